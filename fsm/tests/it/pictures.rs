//! Pictures.

use grammask_fsm::FragmentId;
use grammask_fsm::picture::{MAX_STATES, Scope, dot, svg};

use crate::{built, grammar};

#[test]
fn dot_shows_states_and_labels() {
    let program = built(&grammar(|builder| {
        let (word, body) = (builder.literal("a\""), builder.class([('0', '9'), ('_', '_'), ('\n', '\n')]));
        let many = builder.repeat(body, 0, Some(500));
        builder.sequence([word, many])
    }));
    insta::assert_snapshot!(dot(&program, Scope::Program), @r#"
    digraph program {
      rankdir=LR;
      node [shape=circle, fontsize=10];
      subgraph cluster_0 {
        label="<root>";
        start_0 [shape=point];
        0;
        1;
        2;
        3 [shape=doublecircle];
        start_0 -> 0;
        0 -> 1 [label="a"];
        1 -> 2 [label="\""];
        2 -> 3 [label="<root>{0,500}"];
      }
      subgraph cluster_1 {
        label="<root>{0,500}";
        start_1 [shape=point];
        4;
        5 [shape=doublecircle];
        start_1 -> 4;
        4 -> 5 [label="[\\n0-9_]"];
      }
    }
    "#);
}

#[test]
fn svg_is_well_formed_and_bounded() {
    let small = built(&grammar(|builder| {
        let any = builder.any_char();
        let text = builder.repeat(any, 1, None);
        let tag = builder.literal("<&>");
        builder.sequence([tag, text])
    }));
    let picture = svg(&small, Scope::Program).expect("small");
    let finals = "r=\"12.0\"";
    assert!(picture.starts_with("<svg ") && picture.contains("&lt;") && picture.contains(finals));
    let count = |pattern: &str| picture.matches(pattern).count();
    assert_eq!(count("<text"), count("</text>"));
    assert_eq!(count("<circle"), small.state_count() + 1, "one state is final");
    assert_eq!(svg(&small, Scope::Fragment(FragmentId::new(0).expect("0"))).as_ref(), Ok(&picture));
    let large = built(&grammar(|builder| builder.literal(&"x".repeat(MAX_STATES + 1))));
    insta::assert_snapshot!(svg(&large, Scope::Program).expect_err("too large"), @"402 states are too many for a picture, limit 400; draw one fragment, or give the DOT output to Graphviz");
}
