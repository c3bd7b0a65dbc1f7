//! One schema with its instances, put to the grammar and to the judge.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use grammask_grammar_frontends::json_schema::{self, Escapes, JsonSchemaOptions, KeyOrder, Numbers, Objects};
use grammask_oracle::random::Rng;
use serde_json::Value;

use super::generate::{KEYWORDS, random_schema};
use super::instance::Guide;
use super::objects;
use crate::documents::{
    self, Spelled, Spelling, is_judged_rightly, is_schema_judged_rightly, mutated, random_value, sorted,
};
use crate::report::guarded;
use crate::subject::{BackendSubject, MatcherSubject, Subject, asks_to_differ};
use crate::subjects;

/// The subjects of schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// All keywords, one of them for certain in each schema.
    Keywords,
    /// Objects that share names, under keywords that tell them apart.
    Objects,
}

impl Family {
    fn schema(self, rng: &mut Rng) -> Value {
        match self {
            Self::Keywords => random_schema(rng),
            Self::Objects => objects::random_schema(rng),
        }
    }

    /// A value that was not made for a schema.
    fn value(self, rng: &mut Rng) -> Value {
        match self {
            Self::Keywords => random_value(rng, 2),
            Self::Objects => objects::random_value(rng),
        }
    }

    /// Of a hundred values, how many are not made for the schema.
    fn random_values(self) -> u32 {
        match self {
            Self::Keywords => 0,
            Self::Objects => 60,
        }
    }

    /// Instances of one schema, half of them valid where both kinds can be found.
    fn instances(self) -> usize {
        match self {
            Self::Keywords => 4,
            Self::Objects => 12,
        }
    }
}

/// Says of values whether one schema allows them.
pub type Judge = Box<dyn Fn(&Value) -> bool>;

/// The counts of a comparison, and the differences between grammar and judge.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Schemas.
    pub schemas: usize,
    /// Schemas that were refused, by the message without what is particular to them, with an example.
    pub refused: BTreeMap<String, (usize, String)>,
    /// Schemas of which the frontend says that nothing satisfies them.
    pub unsatisfiable: usize,
    /// Pairs of a schema and an instance.
    pub pairs: usize,
    /// Those in which the instance is valid.
    pub valid: usize,
    /// Documents walked out of grammars; all must be valid.
    pub walks: usize,
    /// In how many schemas each keyword occurs.
    pub keywords: BTreeMap<&'static str, usize>,
    /// Where they differ.
    pub disagreements: Vec<Disagreement>,
}

/// A schema with an instance of which grammar and judge say different things.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// Seed of the schema.
    pub seed: u64,
    /// The schema.
    pub schema: String,
    /// The instance, as it was written.
    pub document: String,
    /// The problem.
    pub problem: String,
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, schema, document, problem } = self;
        write!(f, "seed {seed}: {problem}\n  schema   {schema}\n  document {document}")
    }
}

impl Comparison {
    /// Schemas that were refused though something satisfies them, for all we know.
    pub fn refusals(&self) -> usize {
        self.refused.values().map(|(count, _)| count).sum()
    }
}

/// Tries to find an instance of each kind.
const TRIES: usize = 12;

/// Bytes after which a walk looks for the end.
const WALK_BYTES: usize = 60;

/// Walks through the grammar of one schema.
const WALKS: usize = 2;

/// Compares on the schemas of consecutive seeds until there are this many pairs.
///
/// `judge` makes a judge of a schema, or says that it is none that it takes: such schemas are not counted.
///
/// Validators are not asked about numbers that do not fit into theirs, and are given members sorted by name: see
/// [`is_judged_rightly`] and [`sorted`].
pub fn compare(
    family: Family,
    first_seed: u64,
    pairs: usize,
    judge: impl Fn(&Value) -> Option<Judge>,
) -> Comparison {
    let mut comparison = Comparison::default();
    let mut seed = first_seed;
    while comparison.pairs < pairs {
        let mut rng = Rng::new(seed);
        let schema = family.schema(&mut rng);
        if is_schema_judged_rightly(&schema)
            && let Some(judge) = judge(&sorted(&schema))
        {
            let judge: Judge = Box::new(move |value| judge(&sorted(value)));
            comparison.schemas += 1;
            for keyword in keywords_of(&schema) {
                *comparison.keywords.entry(keyword).or_default() += 1;
            }
            let (rng, how) = (&mut rng, How::of(seed));
            let mut trial = Trial { family, seed, rng, schema: &schema, judge: &judge, how };
            let outcome = guarded(|| trial.run(&mut comparison));
            if let Err(problem) = outcome.and_then(|outcome| outcome) {
                comparison.disagree(seed, &schema, "", problem);
            }
        }
        seed += 1;
    }
    comparison
}

impl Comparison {
    fn disagree(&mut self, seed: u64, schema: &Value, document: &str, problem: String) {
        let (schema, document) = (schema.to_string(), document.to_owned());
        self.disagreements.push(Disagreement { seed, schema, document, problem });
    }
}

/// The options of a comparison.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    Default,
    /// Every spelling of a value, members in any order.
    AnySpelling,
    AnyOrder,
    /// Every value in one spelling.
    Canonical,
    /// Objects that declare members allow no others: fewer values, and none that is invalid.
    Closed,
}

impl How {
    fn of(seed: u64) -> Self {
        match seed % 5 {
            0 => Self::Default,
            1 => Self::AnySpelling,
            2 => Self::AnyOrder,
            3 => Self::Canonical,
            _ => Self::Closed,
        }
    }

    fn options(self) -> JsonSchemaOptions {
        let options = JsonSchemaOptions::default();
        match self {
            Self::Default => options,
            Self::AnySpelling => options.spelling(json_schema::Spelling::Any).key_order(KeyOrder::Any),
            Self::AnyOrder => options.key_order(KeyOrder::Any),
            Self::Canonical => options.escapes(Escapes::Needed).numbers(Numbers::Canonical),
            Self::Closed => options.objects(Objects::Closed),
        }
    }
}

fn has_exponent(value: &Value) -> bool {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Number(number) if number.to_string().contains(['e', 'E']) => return true,
            Value::Object(members) => open.extend(members.values()),
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    false
}

/// One schema, and what is needed to put instances to it.
struct Trial<'t> {
    family: Family,
    seed: u64,
    rng: &'t mut Rng,
    schema: &'t Value,
    judge: &'t Judge,
    how: How,
}

impl Trial<'_> {
    fn run(&mut self, comparison: &mut Comparison) -> Result<(), String> {
        let grammar = match json_schema::compile(&self.schema.to_string(), &self.how.options()) {
            Ok(compiled) => compiled.grammar,
            Err(diagnostics) => {
                let first = diagnostics.iter().next().ok_or("refused without a reason")?;
                if first.code() != "json-schema/unsatisfiable" {
                    self.refuse(comparison, &format!("{}: {}", first.code(), first.message()));
                    return Ok(());
                }
                self.call_unsatisfiable(comparison);
                return Ok(());
            }
        };
        let compared = match asks_to_differ(&grammar) {
            // No backend keeps items apart by itself.
            true => MatcherSubject::new(&grammar).map(|subject| self.compare_on(comparison, &subject)),
            false => {
                subjects::earley(&grammar).map(|engine| self.compare_on(comparison, &BackendSubject(engine)))
            }
        };
        match compared {
            Ok(result) => result,
            // The frontend bounds its search for contradictions; the automata have the last word.
            Err(error) if error.contains("the language is empty") => {
                self.call_unsatisfiable(comparison);
                Ok(())
            }
            // The product of two formats may pass the limits on automata, which the frontend does not know.
            Err(error) if error.contains("limit reached") => {
                self.refuse(comparison, &error);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    fn refuse(&self, comparison: &mut Comparison, reason: &str) {
        comparison.refused.entry(general(reason)).or_insert((0, self.schema.to_string())).0 += 1;
    }

    fn call_unsatisfiable(&mut self, comparison: &mut Comparison) {
        comparison.unsatisfiable += 1;
        if self.how == How::Closed {
            return;
        }
        if let Some(found) = self.find(true, None) {
            let problem = "the schema is called unsatisfiable, and the judge takes this".to_owned();
            self.disagree(comparison, &found.to_string(), problem);
        }
    }

    fn disagree(&self, comparison: &mut Comparison, document: &str, problem: String) {
        comparison.disagree(self.seed, self.schema, document, problem);
    }

    fn compare_on<S: Subject>(&mut self, comparison: &mut Comparison, subject: &S) -> Result<(), String> {
        let mut example = None;
        let mut walks = 0;
        for _ in 0..3 * WALKS {
            if walks == WALKS {
                break;
            }
            let Some(text) = documents::walk(subject, self.rng, WALK_BYTES)? else { continue };
            let text = String::from_utf8(text).map_err(|_| "a walk is not UTF-8")?;
            let value: Value =
                serde_json::from_str(&text).map_err(|error| format!("a walk is no JSON: {error}: {text}"))?;
            if !is_judged_rightly(self.schema, &value) {
                continue;
            }
            walks += 1;
            comparison.walks += 1;
            if (self.judge)(&value) {
                example = Some(value);
            } else {
                self.disagree(comparison, &text, "a walk through the grammar is invalid".to_owned());
            }
        }
        for _ in 0..self.family.instances() {
            // Whichever kind there are fewer of so far.
            let valid = comparison.valid * 2 <= comparison.pairs;
            let found = self.find(valid, example.as_ref());
            let Some(value) = found else { continue };
            comparison.pairs += 1;
            comparison.valid += usize::from(valid);
            self.check(comparison, subject, &value, valid)?;
        }
        Ok(())
    }

    /// A value that the judge takes, or one that it does not.
    fn find(&mut self, valid: bool, example: Option<&Value>) -> Option<Value> {
        for attempt in 0..TRIES {
            let value = self.candidate(valid, example, attempt);
            // Walks out of the grammar bring in exponents; how those are spelled is tested by itself.
            let is_meant = !has_exponent(&value) && is_judged_rightly(self.schema, &value);
            if is_meant && (self.judge)(&value) == valid {
                return Some(value);
            }
        }
        None
    }

    fn candidate(&mut self, valid: bool, example: Option<&Value>, attempt: usize) -> Value {
        if self.rng.percent(self.family.random_values()) {
            return self.family.value(self.rng);
        }
        let made = Guide { root: self.schema, rng: &mut *self.rng }.instance();
        match (valid, example) {
            (true, _) if attempt < TRIES / 2 => made,
            (true, Some(example)) => mutated(self.rng, example),
            (true, None) => made,
            (false, Some(example)) if self.rng.percent(50) => mutated(self.rng, example),
            (false, _) if self.rng.percent(15) => self.family.value(self.rng),
            (false, _) => mutated(self.rng, &made),
        }
    }

    fn check<S: Subject>(
        &mut self,
        comparison: &mut Comparison,
        subject: &S,
        value: &Value,
        valid: bool,
    ) -> Result<(), String> {
        let spelled = match self.how {
            How::Canonical => Spelled::new(value, &mut Spelling::Canonical),
            How::AnySpelling => Spelled::new(value, &mut Spelling::Random(self.rng)),
            // An integer has no fraction.
            How::Default | How::AnyOrder | How::Closed => {
                match self.schema.to_string().contains("\"integer\"") {
                    true => Spelled::new(value, &mut Spelling::PrintedByType(self.rng)),
                    false => Spelled::new(value, &mut Spelling::Printed(self.rng)),
                }
            }
        };
        let (spelled, accepted) = match self.how {
            How::Default | How::Canonical | How::Closed => {
                let accepted = documents::accepts_some_order(subject, &spelled)?;
                (spelled.to_string(), accepted)
            }
            // Any order is any order: one at random is read.
            How::AnySpelling | How::AnyOrder => {
                let text = spelled.shuffled(self.rng).to_string();
                let accepted = documents::accepts(subject, &text)?;
                (text, accepted)
            }
        };
        if accepted != valid && (accepted || self.how != How::Closed) {
            let problem = if valid { "a valid document is not in the grammar" } else { "an invalid one is" };
            self.disagree(comparison, &spelled, problem.to_owned());
        }
        Ok(())
    }
}

/// The keywords that occur anywhere in a schema. Names of members are not told from keywords; the names in use
/// are no keywords.
fn keywords_of(schema: &Value) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                found.extend(KEYWORDS.iter().filter(|keyword| members.contains_key(**keyword)));
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    found
}

/// A message without its numbers.
fn general(message: &str) -> String {
    let mut text = String::new();
    for character in message.chars() {
        if !character.is_ascii_digit() {
            text.push(character);
        } else if !text.ends_with('N') {
            text.push('N');
        }
    }
    text
}
