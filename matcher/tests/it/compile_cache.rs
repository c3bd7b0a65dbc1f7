//! A cache of compiled values, by itself.

use std::convert::Infallible;

use grammask_matcher::CompileCache;

fn get(cache: &CompileCache<usize>, key: &str, value: usize) -> usize {
    let compiled: Result<usize, Infallible> = cache.get_or_compile(key, |value| *value, || Ok(value));
    compiled.unwrap()
}

#[test]
fn values_are_kept_by_content() {
    let cache = CompileCache::new(None);
    assert_eq!(get(&cache, "a", 1), 1);
    assert_eq!(get(&cache, "a", 2), 1);
    assert_eq!(get(&cache, "b", 3), 3);
    assert_eq!(cache.memory_usage(|value| *value), 1 + 3 + "ab".len());
    cache.clear();
    assert_eq!(get(&cache, "a", 2), 2);
}

#[test]
fn failures_are_not_kept() {
    let cache = CompileCache::<usize>::new(None);
    assert_eq!(cache.get_or_compile("a", |value| *value, || Err("no")), Err("no"));
    assert!(cache.is_empty());
    assert_eq!(get(&cache, "a", 1), 1);
}

#[test]
fn the_oldest_go_first() {
    let cache = CompileCache::new(Some(25));
    get(&cache, "a", 10);
    get(&cache, "b", 10);
    get(&cache, "a", 10);
    get(&cache, "c", 10);
    assert_eq!(cache.len(), 2);
    assert_eq!(get(&cache, "b", 1), 1, "b had not been used for longest");
    assert_eq!(get(&cache, "a", 2), 10);
}

#[test]
fn an_entry_larger_than_the_cache_is_not_kept() {
    let cache = CompileCache::new(Some(5));
    assert_eq!(get(&cache, "a", 10), 10);
    assert!(cache.is_empty());
}

/// Few texts are kept that have one hash.
#[test]
fn texts_that_differ_anywhere_have_hashes_of_their_own() {
    for length in [0, 2_000, 5_000] {
        let cache = CompileCache::new(None);
        let filling = "a".repeat(length);
        let key = |number: usize| {
            format!("{}{number}{}", &filling[number * length / 200..], &filling[length / 2..])
        };
        (0..200).for_each(|number| assert_eq!(get(&cache, &key(number), number), number));
        (0..200).for_each(|number| assert_eq!(get(&cache, &key(number), 777), number));
        assert_eq!(cache.hits_and_misses(), (200, 200));
    }
}
