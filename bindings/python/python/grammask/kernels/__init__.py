"""Masks onto the logits of one framework, under the names of xgrammar's modules."""
