//! Images at rest: what wakes is what went to rest, whoever uses what at the same time.

use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use ash::vk;

use super::*;
use crate::memory::{Buffer, Heap, Surface, SurfaceDesc};

const HEAP: u64 = 64 << 20;

fn residency(heap: &Arc<Heap>, bytes: u64, always: bool) -> Residency {
    Residency::new(NearConfig { bytes, far: None, always }, heap.clone())
}

fn surface(format: vk::Format, side: u32, samples: u32) -> Arc<Surface> {
    let extent = vk::Extent3D { width: side, height: side, depth: 1 };
    let kind = vk::ImageType::TYPE_2D;
    let desc = SurfaceDesc { kind, format, extent, levels: 1, layers: 1, samples, linear: false, decoded: false };
    Surface::new(desc).unwrap()
}

/// A surface bound at the start of memory of its own, which has `more` bytes behind it.
fn bound(heap: &Arc<Heap>, near: &Residency, surface: &Surface, more: u64) -> Arc<Allocation> {
    let memory = Allocation::resting(heap, surface.layout().size() + more, near).unwrap();
    assert!(surface.bind(memory.clone(), 0));
    memory
}

fn byte(kind: usize, place: u64, seed: u32) -> u8 {
    let hash = (place as u32 ^ seed).wrapping_mul(0x9e37_79b9);
    match kind {
        0 => (place / 256) as u8,
        1 => (hash >> 13) as u8,
        2 => [7, 1, 200, 255][place as usize % 4],
        _ => ((place / 4096) as u32 ^ seed) as u8,
    }
}

fn fill(memory: &Allocation, range: Range<u64>, kind: usize, seed: u32) {
    let bytes: Vec<u8> = range.clone().map(|place| byte(kind, place, seed)).collect();
    memory.write(range.start, &bytes);
}

#[track_caller]
fn check(memory: &Allocation, range: Range<u64>, kind: usize, seed: u32) {
    let mut bytes = vec![0; (range.end - range.start) as usize];
    memory.read(range.start, &mut bytes);
    let wrong = range.clone().zip(&bytes).find(|&(place, &found)| found != byte(kind, place, seed));
    assert_eq!(wrong, None, "of {kind}");
}

fn states(memory: &Allocation) -> Vec<State> {
    memory.rest.as_ref().unwrap().spans.iter().map(|span| span.get().state()).collect()
}

#[test]
fn what_wakes_is_what_went_to_rest() {
    let (heap, workers) = (Heap::new(HEAP), Workers::new(2));
    let near = residency(&heap, 8 << 20, true);
    let kinds = [
        (vk::Format::R8G8B8A8_UNORM, 4),
        (vk::Format::D32_SFLOAT, 1),
        (vk::Format::D24_UNORM_S8_UINT, 1),
        (vk::Format::R16G16B16A16_SFLOAT, 1),
        (vk::Format::BC7_UNORM_BLOCK, 1),
        (vk::Format::R8_UNORM, 1),
    ];
    for (format, samples) in kinds {
        for kind in 0..4 {
            let surface = surface(format, 250, samples);
            let memory = bound(&heap, &near, &surface, 4);
            let all = 0..surface.layout().size();
            fill(&memory, all.clone(), kind, 1);
            for _ in 0..2 {
                let in_use = near.begin(&workers);
                surface.begin_use(&in_use, false);
                check(&memory, all.clone(), kind, 1);
                drop(in_use);
                // Behind the image there may be a span without any.
                assert!(!states(&memory).contains(&State::Awake), "{format:?} {kind}");
            }
            assert!(heap.resident() < heap.used() || kind == 1, "{format:?} {kind}: nothing is saved");
        }
    }
    assert_eq!((heap.used(), heap.resident()), (0, 0), "what is freed takes nothing");
    let counted = near.counted();
    let of = |stat: super::super::near::Stat| counted.iter().find(|(number, _)| *number == stat as usize).unwrap().1;
    use super::super::near::Stat;
    assert!(of(Stat::SpansVoid) > 0 && of(Stat::SpansRested) > of(Stat::SpansVoid) && of(Stat::PeakResting) > 0);
    assert!(of(Stat::LinesOne) > 0 && of(Stat::LinesRaw) > 0);
}

#[test]
fn buffers_and_what_is_beside_images_stay_awake() {
    let (heap, workers) = (Heap::new(HEAP), Workers::new(1));
    let near = residency(&heap, HEAP, true);
    let image = surface(vk::Format::R8G8B8A8_UNORM, 256, 1);
    let size = image.layout().size();
    let memory = bound(&heap, &near, &image, 2 * SPAN as u64);
    fill(&memory, 0..memory.size(), 0, 3);
    drop(near.begin(&workers));
    assert_eq!(states(&memory), [[State::Resting; 4].as_slice(), &[State::Never; 2]].concat());
    // A buffer is bound over the end of the image: what rested there comes back, and stays.
    let buffer = Buffer::new(SPAN as u64);
    assert!(buffer.bind(memory.clone(), size - 5));
    check(&memory, size - 5..memory.size(), 0, 3);
    drop(near.begin(&workers));
    assert_eq!(states(&memory)[2..], [State::Resting, State::Never, State::Never, State::Never]);
    memory.keep_awake(0..memory.size());
    check(&memory, 0..memory.size(), 0, 3);
    assert_eq!((states(&memory), heap.resident()), (vec![State::Never; 6], heap.used()));
    // Memory that the host sees, or others have, knows nothing of rest.
    let other = Allocation::new(&heap, 1 << 20).unwrap();
    let image = surface(vk::Format::R8G8B8A8_UNORM, 256, 1);
    assert!(image.bind(other.clone(), 0) && !image.may_rest());
    other.keep_awake(0..1 << 20);
}

#[test]
fn what_is_overwritten_is_not_read() {
    let (heap, workers) = (Heap::new(HEAP), Workers::new(1));
    let near = residency(&heap, HEAP, true);
    let image = surface(vk::Format::R8G8B8A8_UNORM, 256, 1);
    let memory = bound(&heap, &near, &image, 0);
    fill(&memory, 0..memory.size(), 1, 3);
    drop(near.begin(&workers));
    let in_use = near.begin(&workers);
    image.begin_use(&in_use, true);
    assert_eq!((states(&memory), in_use.woken()), (vec![State::Awake; 4], 0));
    let mut bytes = vec![1; 1 << 18];
    memory.read(0, &mut bytes);
    assert!(bytes.iter().all(|byte| *byte == 0), "it is fresh memory");
    // What lies beside in the same span is not lost.
    fill(&memory, 0..memory.size(), 1, 4);
    drop(in_use);
    let in_use = near.begin(&workers);
    in_use.wake(&memory, 0..100, true);
    check(&memory, 100..SPAN as u64, 1, 4);
    assert_eq!((in_use.woken(), states(&memory)[1]), (1, State::Resting));
}

/// With room for a span or two, and then none: what does not fit goes to far memory, or stays as it is.
#[test]
fn little_room_changes_nothing() {
    let workers = Workers::new(2);
    for (bytes, size) in [(64 << 10, HEAP), (4 << 10, 256 << 10)] {
        let heap = Heap::new(size);
        let near = residency(&heap, bytes, true);
        let image = surface(vk::Format::R8G8B8A8_UNORM, 256, 1);
        let memory = bound(&heap, &near, &image, 0);
        fill(&memory, 0..memory.size(), 1, 3);
        for _ in 0..3 {
            drop(near.begin(&workers));
            let in_use = near.begin(&workers);
            image.begin_use(&in_use, false);
            check(&memory, 0..memory.size(), 1, 3);
        }
    }
}

/// The thread rests what was idle for a time, and nothing that a submission uses.
#[test]
fn what_is_idle_rests_by_itself() {
    let (heap, workers) = (Heap::new(HEAP), Workers::new(1));
    let near = residency(&heap, HEAP, false);
    let images = [0, 1].map(|_| surface(vk::Format::R8G8B8A8_UNORM, 256, 1));
    let memories = images.each_ref().map(|image| bound(&heap, &near, image, 0));
    memories.iter().for_each(|memory| fill(memory, 0..memory.size(), 0, 3));
    let in_use = near.begin(&workers);
    images[1].begin_use(&in_use, false);
    // Another one has ended since.
    drop(near.begin(&workers));
    let begin = Instant::now();
    while states(&memories[0]).contains(&State::Awake) {
        assert!(begin.elapsed() < Duration::from_secs(60), "nothing rests");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(states(&memories[1]), [State::Awake; 4]);
    drop(in_use);
    while states(&memories[1]).contains(&State::Awake) {
        assert!(begin.elapsed() < Duration::from_secs(60), "the other one does not rest");
        std::thread::sleep(Duration::from_millis(10));
    }
    let in_use = near.begin(&workers);
    images.iter().for_each(|image| image.begin_use(&in_use, false));
    memories.iter().for_each(|memory| check(memory, 0..memory.size(), 0, 3));
}

/// Submissions of several queues use, rewrite and free images while everything that is idle goes to rest.
#[test]
fn everybody_at_the_same_time() {
    let seconds = std::env::var("VITRIC_STRESS").ok().and_then(|value| value.parse().ok()).unwrap_or(3);
    let (heap, end) = (Heap::new(HEAP), Instant::now() + Duration::from_secs(seconds));
    let near = residency(&heap, 1 << 20, true);
    let image = || {
        let (image, workers) = (surface(vk::Format::R8G8B8A8_UNORM, 300, 1), Workers::new(1));
        let memory = bound(&heap, &near, &image, 0);
        let in_use = near.begin(&workers);
        image.begin_use(&in_use, true);
        fill(&memory, 0..memory.size(), 3, 0);
        drop(in_use);
        (image, memory, 0)
    };
    let (images, done): (Vec<_>, _) = ((0..6).map(|_| Mutex::new(image())).collect(), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for queue in 0..3u32 {
            let (images, near, done, image) = (&images, &near, &done, &image);
            scope.spawn(move || {
                let (workers, mut random) = (Workers::new(1), queue);
                while Instant::now() < end {
                    random = random.wrapping_mul(0x2c1b_3c6d).wrapping_add(12345);
                    let in_use = near.begin(&workers);
                    let mut one = images[(random >> 20) as usize % images.len()].lock();
                    if random >> 8 & 15 == 0 {
                        *one = image();
                    }
                    let (surface, memory, seed) = &mut *one;
                    surface.begin_use(&in_use, false);
                    check(memory, 0..memory.size(), 3, *seed);
                    *seed = random;
                    fill(memory, 0..memory.size(), 3, random);
                    drop(one);
                    drop(in_use);
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert!(done.into_inner() > 0);
    drop(images);
    assert_eq!((heap.used(), heap.resident()), (0, 0));
}
