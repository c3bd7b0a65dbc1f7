//! Bits of masks.

use grammask_mask_cache::{TokenMask, bits};

use crate::support::id;

#[test]
fn tail_bits_stay_zero() {
    for len in [0, 1, 31, 32, 33, 64, 100] {
        let mut mask = TokenMask::new(len);
        mask.fill();
        assert_eq!(mask.count(), len);
        mask.set(id(len as u32));
        assert_eq!(mask.count(), len);
        let mut longer = TokenMask::new(len + 40);
        longer.fill();
        mask.or_with(&longer);
        assert_eq!(mask.count(), len);
        assert_eq!(mask.iter().count(), len);
    }
}

#[test]
fn positions_outside_are_ignored() {
    let mut words = [0; 2];
    bits::set(&mut words, 64);
    bits::clear(&mut words, 1000);
    assert_eq!(words, [0, 0]);
    assert!(!bits::contains(&words, 64));
    bits::copy(&mut words, &[1, 2, 3]);
    assert_eq!(words, [1, 2]);
    bits::clear_tail(&mut words, 33);
    assert_eq!(words, [1, 0]);
}

#[test]
fn debug_is_short() {
    let mut mask = TokenMask::new(100);
    mask.set(id(3));
    assert_eq!(format!("{mask:?}"), "TokenMask(1 of 100: [3])");
    mask.fill();
    assert!(format!("{mask:?}").ends_with("15] ...)"));
}
