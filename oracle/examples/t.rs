use grammask_oracle::{Recogniser, mask, random};
fn main() {
    let started = std::time::Instant::now();
    let mut worst = vec![];
    let n: u64 = std::env::args().nth(1).unwrap().parse().unwrap();
    for seed in 0..n {
        let t = std::time::Instant::now();
        let case = random::case(seed);
        let g = t.elapsed();
        let recogniser = Recogniser::new(&case.grammar);
        let chart = recogniser.read(&case.prefix).unwrap();
        let mask = mask(&chart, &case.vocabulary);
        std::hint::black_box(mask);
        worst.push((t.elapsed(), g, seed));
    }
    worst.sort();
    println!("{:?} {:?}", started.elapsed(), &worst[worst.len()-6..]);
}
