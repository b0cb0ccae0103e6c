//! Tests of compaction when memory is short, and of the allocation of what it saves.

use super::*;

/// An image of 1 MiB that compaction makes a quarter of its size: each line takes one sub-block.
fn mebibyte() -> Arc<Surface> {
    surface(vk::Format::R8G8B8A8_UNORM, 512, 1)
}

/// Returns a residency whose thread compacts nothing, because it is stopped.
fn without_thread(heap: &Arc<Heap>) -> Residency {
    let near = residency(heap, HEAP, false);
    *near.state_for(SPAN).unwrap().lock_stop() = true;
    near
}

/// Nothing is compacted while there is memory. A short heap and a host that wants memory compact
/// idle images, as many as needed.
#[test]
fn compaction_waits_until_memory_is_short() {
    let heap = Heap::with_far(6 << 20, 6 << 20);
    let near = without_thread(&heap);
    let state = near.state_for(SPAN).unwrap();
    let images = [(); 5].map(|()| mebibyte());
    let memories = images.each_ref().map(|image| filled(&heap, &near, image, 0, 0, 3));
    state.history.lock().add(state.submissions.oldest());
    assert!(!state.compact_if_short());
    assert!(memories.iter().all(|memory| states(memory) == [SpanState::Resident; 16]));
    // Less than a sixteenth of the heap is free. An eighth is wanted.
    let filler = Allocation::new(&heap, 700 << 10).unwrap();
    let (free, goal) = (324 << 10, 2 * (6 << 20) / 16);
    assert_eq!((heap.free(), heap.wanted()), (free, goal - free));
    assert!(state.compact_if_short());
    // A span of 64 KiB takes 16 KiB afterwards.
    let compacted = counted(&near, Stat::SpansCompacted);
    assert_eq!(heap.free(), free + compacted * (48 << 10));
    assert!(heap.free() >= goal && compacted <= 16, "{compacted}");
    assert!(states(&memories[0]).contains(&SpanState::Compacted), "it was written first");
    assert!(memories[1..].iter().all(|memory| states(memory) == [SpanState::Resident; 16]));
    assert_eq!(counted(&near, Stat::GroupsPacked), 32 * compacted);
    drop(filler);
}

/// Bytes that compaction saves can be allocated, up to the capacity. A heap that is full of idle
/// images has room for more, and uses of images compact others.
#[test]
fn saved_memory_can_be_allocated() {
    let (heap, workers) = (Heap::with_far(4 << 20, 4 << 20), Workers::new(2));
    let near = without_thread(&heap);
    let mut images: Vec<_> = (0..4).map(|_| mebibyte()).collect();
    let mut memories: Vec<_> = images.iter().map(|image| filled(&heap, &near, image, 0, 0, 3)).collect();
    for _ in 4..8 {
        let image = mebibyte();
        assert_eq!(Allocation::new_compactable(&heap, 1 << 20, &near).unwrap_err(), OutOfMemory::Heap(1 << 20));
        assert!(near.make_room(1 << 20));
        assert_eq!(heap.missing(1 << 20), 0);
        memories.push(filled(&heap, &near, &image, 0, 0, 3));
        images.push(image);
        assert!(heap.resident() <= heap.size());
    }
    assert_eq!((heap.used(), heap.free()), (8 << 20, 0), "far memory holds no more");
    let compacted = counted(&near, Stat::SpansCompacted);
    assert!(!near.make_room(1));
    assert_eq!((counted(&near, Stat::SpansCompacted), Allocation::new(&heap, 1).is_err()), (compacted, true));
    for turn in 0..24 {
        let in_use = near.begin(&workers);
        images[turn % 8].begin_use(&in_use, ImageAccess::Write);
        assert!(heap.resident() <= heap.size(), "{turn}");
        check(&memories[turn % 8], 0..1 << 20, 0, 3);
    }
    // A submission may need more than the heap. Its images stay resident until it ends.
    let in_use = near.begin(&workers);
    images.iter().for_each(|image| image.begin_use(&in_use, ImageAccess::Write));
    assert!(!near.make_room(0));
    assert_eq!(heap.resident(), 8 << 20);
    memories.iter().for_each(|memory| check(memory, 0..1 << 20, 0, 3));
    drop(in_use);
    assert!(near.make_room(0));
    assert!(heap.resident() <= heap.size());
}

/// Noted clears keep their pages, so a use that writes them needs no room in a full heap.
#[test]
fn uses_of_cleared_spans_compact_nothing() {
    let (heap, workers) = (Heap::with_far(4 << 20, 4 << 20), Workers::new(1));
    let near = without_thread(&heap);
    let images = [(); 4].map(|()| mebibyte());
    let memories = images.each_ref().map(|image| filled(&heap, &near, image, 0, 0, 3));
    let in_use = near.begin(&workers);
    images[0].begin_use(&in_use, ImageAccess::Overwrite);
    assert!(images[0].note_clear(&in_use, vk::ImageAspectFlags::COLOR, &[7; 256]));
    assert_eq!(states(&memories[0]), [SpanState::Cleared; 16]);
    images[0].begin_use(&in_use, ImageAccess::Write);
    assert_eq!((counted(&near, Stat::SpansCompacted), heap.resident()), (0, 4 << 20));
    let mut bytes = vec![0; 1 << 20];
    memories[0].read(0, &mut bytes);
    assert!(bytes.iter().all(|byte| *byte == 7));
}

/// A use of a span under compaction does not wait. The compaction gives up, and its near memory is
/// free again.
#[test]
fn uses_abandon_compactions() {
    let (heap, workers) = (Heap::new(HEAP), Workers::new(1));
    let near = without_thread(&heap);
    let image = surface(vk::Format::R8G8B8A8_UNORM, 256, 1);
    let memory = filled(&heap, &near, &image, 0, 0, 3);
    let compacted = compactable(&memory);
    let begin = |span: usize| {
        let used = compacted.spans[span].begin_compaction(100).unwrap();
        let codec = (0, *compacted.table.lock().codec(0));
        idle::CodedSpan { span, used, is_lost: false, storage: compacted.encode(span, &codec, &mut lines()) }
    };
    let coded = [begin(0), begin(1)];
    let in_use = near.begin(&workers);
    in_use.make_resident(compacted, 0..SPAN as u64, false);
    fill(&memory, 0..SPAN as u64, 0, 4);
    compacted.discard_coded(0..2, 100, &[], coded.into_iter().collect());
    assert_eq!(states(&memory)[..2], [SpanState::Resident, SpanState::Compacted]);
    assert_eq!((counted(&near, Stat::PacksAbandoned), counted(&near, Stat::SpansCompacted)), (32, 1));
    // The freed pages of the abandoned span have not returned to the system yet.
    assert_eq!(heap.resident(), heap.used() - (48 << 10) + (16 << 10));
    near.state_for(SPAN).unwrap().trim();
    assert_eq!(heap.resident(), heap.used() - (48 << 10));
    image.begin_use(&in_use, ImageAccess::Read);
    check(&memory, 0..SPAN as u64, 0, 4);
    check(&memory, SPAN as u64..memory.size(), 0, 3);
}

/// Images that were idle for a long time are compacted until a sixteenth of the heap is free
/// besides the wanted bytes. Images of the last submissions are compacted only as far as needed.
#[test]
fn recently_used_images_give_no_margin() {
    for (has_history, compacted) in [(true, 2), (false, 1)] {
        let heap = Heap::with_far(4 << 20, 4 << 20);
        let near = without_thread(&heap);
        let state = near.state_for(SPAN).unwrap();
        let images = [(); 4].map(|()| mebibyte());
        let _memories = images.each_ref().map(|image| filled(&heap, &near, image, 0, 0, 3));
        if has_history {
            state.history.lock().add(state.submissions.oldest());
        }
        // An image gives 768 KiB. The margin is 256 KiB.
        assert!(state.make_room(700 << 10));
        assert_eq!(counted(&near, Stat::SpansCompacted), 16 * compacted);
        assert_eq!(heap.free(), compacted * (768 << 10));
    }
}

/// Another thread takes the room that compaction made. The allocation makes room again.
#[test]
fn allocations_make_room_again_if_others_take_it() {
    let heap = Heap::with_far(4 << 20, 4 << 20);
    let near = without_thread(&heap);
    let images = [(); 4].map(|()| mebibyte());
    let _memories = images.each_ref().map(|image| filled(&heap, &near, image, 0, 0, 3));
    // All images together give room for three of these allocations.
    let (mut others, mut calls) = (Vec::new(), 0);
    let mut allocate = || {
        calls += 1;
        // The first call finds the heap full, and then others are faster.
        let is_taken = (2..=3).contains(&calls);
        others.extend(is_taken.then(|| Allocation::new(&heap, 1 << 20).unwrap()));
        Allocation::new(&heap, 1 << 20)
    };
    let made = near.with_room(1 << 20, &mut allocate).unwrap();
    assert_eq!((made.size(), heap.used()), (1 << 20, 7 << 20));
    let full = near.with_room(1 << 20, &mut allocate).unwrap_err();
    assert_eq!(full, OutOfMemory::Heap(1 << 20), "compaction can free nothing more");
    // Two calls succeed only for others, the second of which finds room for both.
    assert_eq!((others.len(), calls), (2, 5));
}

/// Threads that allocate at the same time find all the room that compaction makes.
#[test]
fn concurrent_allocations_share_the_room_of_idle_images() {
    for round in 0..8 {
        let heap = Heap::with_far(8 << 20, 8 << 20);
        let near = without_thread(&heap);
        let images: Vec<_> = (0..8).map(|_| mebibyte()).collect();
        let _memories: Vec<_> = images.iter().map(|image| filled(&heap, &near, image, 0, 0, 3)).collect();
        // Compacted images take 2 MiB of 8, and six threads allocate the others.
        let allocate = || near.with_room(1 << 20, || Allocation::new(&heap, 1 << 20));
        let made: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..6).map(|_| scope.spawn(allocate)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(made.iter().all(Result::is_ok), "{round}: {made:?}");
        assert_eq!((heap.used(), heap.free()), (14 << 20, 0));
    }
}

#[test]
fn imports_of_application_memory_make_room() {
    let heap = Heap::with_far(1 << 20, 1 << 20);
    let near = without_thread(&heap);
    let image = mebibyte();
    let _memory = filled(&heap, &near, &image, 0, 0, 3);
    let mut words = vec![0u64; 1 << 16];
    let pointer = words.as_mut_ptr().cast::<u8>();
    // SAFETY: the words live longer than the allocation.
    let import = || unsafe { Allocation::of_application(&heap, 1 << 19, pointer) };
    assert!(import().is_err());
    let imported = near.with_room(1 << 19, import).unwrap();
    assert_eq!((imported.host_pointer(), heap.resident()), (pointer, (1 << 19) + (1 << 18)));
}

/// Freed pages of near memory count as resident until they return to the system. No more than a
/// sixty-fourth of the heap stays, and nothing stays when the memory of images is freed.
#[test]
fn freed_pages_of_near_memory_return_to_the_system() {
    let (heap, workers) = (Heap::with_far(4 << 20, 4 << 20), Workers::new(1));
    let near = without_thread(&heap);
    let state = near.state_for(SPAN).unwrap();
    let images = [(); 4].map(|()| mebibyte());
    let listed = images.each_ref().map(|image| compactable(&filled(&heap, &near, image, 0, 0, 3)).clone());
    compact(&listed, u64::MAX, usize::MAX);
    assert_eq!((state.coded_bytes(), heap.resident()), (1 << 20, 1 << 20));
    let in_use = near.begin(&workers);
    for (number, image) in images.iter().enumerate() {
        image.begin_use(&in_use, ImageAccess::Read);
        // A span frees 16 KiB. The fifth one exceeds the 64 KiB that may stay, and returns all. The
        // last image does not fit in the heap, so its use returns all before it frees 16 spans.
        let vacant = [16 % 5, 32 % 5, 48 % 5, 16 % 5][number] * (16 << 10);
        let coded = (3 - number) * (256 << 10);
        assert_eq!(state.coded_bytes(), coded + vacant, "{number}");
        let resident = (number + 1) * (1 << 20) + coded + vacant;
        assert_eq!(heap.resident(), resident as u64, "{number}");
    }
    drop(in_use);
    compact(&listed, u64::MAX, usize::MAX);
    drop(listed);
    assert_eq!((state.coded_bytes(), heap.resident()), (1 << 20, 1 << 20));
    // The residency thread sleeps when everything is compacted.
    let [first, others @ ..] = images;
    drop(first);
    assert_eq!((state.coded_bytes(), heap.resident()), (768 << 10, 768 << 10));
    drop(others);
    assert_eq!((state.coded_bytes(), heap.resident(), heap.used()), (0, 0, 0));
}

/// A compaction does not keep the memory that the application frees. If it has to, while it codes
/// spans, the heap gets the bytes back when the memory is unmapped.
#[test]
fn freed_memory_returns_its_bytes_when_it_is_unmapped() {
    let heap = Heap::new(HEAP);
    let near = without_thread(&heap);
    let [first, second] = [(); 2].map(|()| mebibyte());
    let memories = [&first, &second].map(|image| filled(&heap, &near, image, 0, 0, 3));
    let listed = memories.map(|memory| Arc::downgrade(compactable(&memory)));
    let freed = Mutex::new(Some(second));
    let limits = idle::Limits {
        before: &|_| u64::MAX,
        is_enough: &|| {
            *freed.lock() = None;
            assert_eq!(heap.used(), 1 << 20);
            false
        },
        max_bytes: usize::MAX,
    };
    assert_eq!(idle::compact_idle(&listed, 1, &limits), idle::Outcome::AllCompacted);
    assert_eq!(counted(&near, Stat::SpansCompacted), 16);
    let coding = listed[0].upgrade().unwrap();
    drop(first);
    assert_eq!(heap.used(), 1 << 20);
    drop(coding);
    assert_eq!((heap.used(), heap.resident()), (0, 0));
}

/// A buffer is bound to a compacted image in a full heap. Other images make room for its bytes.
#[test]
fn pinned_spans_make_room() {
    let heap = Heap::with_far(4 << 20, 4 << 20);
    let near = without_thread(&heap);
    let images = [(); 4].map(|()| mebibyte());
    let memories = images.each_ref().map(|image| filled(&heap, &near, image, 0, 0, 3));
    compact(std::slice::from_ref(compactable(&memories[0])), u64::MAX, usize::MAX);
    let _filler = Allocation::new(&heap, heap.free()).unwrap();
    memories[0].keep_resident(0..1 << 20);
    check(&memories[0], 0..1 << 20, 0, 3);
    assert_eq!(states(&memories[0]), [SpanState::Pinned; 16]);
    assert_eq!(counted(&near, Stat::SpansCompacted), 16 + 32, "two other images give 1.5 MiB");
    assert!(heap.resident() <= heap.size());
}

/// Lines that a copy writes to a compacted image may need more of a full heap.
#[test]
fn copies_into_compacted_images_make_room() {
    let (heap, workers) = (Heap::with_far(4 << 20, 4 << 20), Workers::new(1));
    let near = without_thread(&heap);
    let images = [(); 4].map(|()| mebibyte());
    let memories = images.each_ref().map(|image| filled(&heap, &near, image, 0, 0, 3));
    compact(std::slice::from_ref(compactable(&memories[0])), u64::MAX, usize::MAX);
    let _filler = Allocation::new(&heap, heap.free()).unwrap();
    let in_use = near.begin(&workers);
    assert!(images[0].writing(&in_use, 1 << 14).is_some());
    // 64 KiB may be written. Another image gives more.
    assert_eq!((counted(&near, Stat::SpansCompacted), heap.free()), (32, 768 << 10));
    assert_eq!(in_use.restored(), 0);
}

/// A span of one repeated line becomes resident if near memory has no slot for it, and other images
/// make room for its bytes.
#[test]
fn copies_into_spans_without_slots_make_room() {
    // Near memory has a slot for each of 32 spans, and all are taken.
    let (heap, workers) = (Heap::with_far(1 << 20, 1 << 20), Workers::new(1));
    let near = without_thread(&heap);
    let uniform = surface(vk::Format::R8G8B8A8_UNORM, 128, 1);
    let memory = filled(&heap, &near, &uniform, 0, 2, 3);
    compact(std::slice::from_ref(compactable(&memory)), u64::MAX, usize::MAX);
    let state = near.state_for(SPAN).unwrap();
    let take_slot = || state.ensure_coded(&mut SpanStorage::Zeros, (0, &Codec::of_bytes()));
    assert_eq!(((0..33).filter(|_| take_slot()).count(), heap.resident()), (32, 0));
    let filler = Allocation::new(&heap, heap.free() - SPAN as u64).unwrap();
    let idle = surface(vk::Format::R8G8B8A8_UNORM, 128, 1);
    let _idle_memory = filled(&heap, &near, &idle, 0, 2, 3);
    assert_eq!(heap.free(), 0);
    let plane = uniform.plane(vk::ImageAspectFlags::COLOR, 0, 0).unwrap();
    let in_use = near.begin(&workers);
    uniform.writing(&in_use, 0).unwrap().write_rows(&plane, [8, 8, 9, 9], 0, &[1, 2, 3, 4]);
    assert_eq!((states(&memory), heap.resident()), (vec![SpanState::Resident], heap.size()));
    assert_eq!((counted(&near, Stat::SpansCompacted), counted(&near, Stat::LinesWritten)), (2, 0));
    let at = plane.address(8, 8, 0);
    check(&memory, 0..at, 2, 3);
    check(&memory, at + 4..memory.size(), 2, 3);
    drop(filler);
}

/// Accesses to images that a submission already uses do not look at their spans.
#[test]
fn accesses_to_images_in_use_look_at_no_span() {
    let (heap, workers) = (Heap::new(HEAP), Workers::new(1));
    let near = without_thread(&heap);
    let [read, written] = [(); 2].map(|()| mebibyte());
    let memories = [&read, &written].map(|image| filled(&heap, &near, image, 0, 0, 3));
    let in_use = near.begin(&workers);
    assert!(read.reading(Some(&in_use)).is_none() && written.writing(&in_use, 1).is_none());
    // The spans could not be compacted while the images are in use.
    for memory in &memories {
        compactable(memory).spans[3].set(SpanState::Compacted, 0);
    }
    assert!(read.reading(Some(&in_use)).is_none() && read.writing(&in_use, 1).is_none());
    assert!(written.reading(Some(&in_use)).is_none() && written.writing(&in_use, 1).is_none());
    for memory in &memories {
        compactable(memory).spans[3].set(SpanState::Resident, in_use.number());
    }
}

#[test]
fn threads_divide_large_pages_if_there_are_fewer_than_threads() {
    let parts = [(1, 2), (127, 2), (128, 2), (128, 4), (128, 16), (256, 16), (512, 16), (513, 16), (128, 1000)];
    let found = parts.map(|(absent, threads)| part_spans(absent, threads));
    assert_eq!(found, [1, 1, 32, 32, 8, 16, 32, 32, 1]);
}
