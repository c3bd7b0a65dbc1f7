"""The command line of a server, as far as grammars go."""

CHOICES = ["xgrammar", "none"]
add_grammar_backend_choices = CHOICES.extend
