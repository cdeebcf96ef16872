// SPDX-License-Identifier: MIT
//! Filters from crates.io as contestants: see bench/peer.h.

use std::ffi::{c_char, c_void};
use std::slice::from_raw_parts;

use xorf::Filter as _;

/// struct bench_contestant
#[repr(C)]
pub struct Contestant {
    version: u32,
    name: *const c_char,
    api: *const c_char,
    release: *const c_char,
    build: Option<unsafe extern "C" fn(*const u64, usize, u32) -> *mut c_void>,
    has: Option<unsafe extern "C" fn(*const c_void, *const u64, usize, *mut u8)>,
    chase: Option<unsafe extern "C" fn(*const c_void, u64, usize) -> u64>,
    build_strings: Option<unsafe extern "C" fn(*const u8, usize, usize, u32) -> *mut c_void>,
    has_strings: Option<unsafe extern "C" fn(*const c_void, *const u8, usize, usize, *mut u8)>,
    bytes: Option<unsafe extern "C" fn(*const c_void) -> usize>,
    free: Option<unsafe extern "C" fn(*mut c_void)>,
    large_pages: bool,
}
unsafe impl Sync for Contestant {}

/// What a filter of integers must implement; the C calls are derived from it.
trait Integers: Sized {
    fn make(keys: &[u64]) -> Option<Self>;
    fn has(&self, key: u64) -> bool;
    fn bytes(&self) -> usize;
}

unsafe extern "C" fn build<F: Integers>(keys: *const u64, n: usize, _threads: u32) -> *mut c_void {
    match F::make(from_raw_parts(keys, n)) {
        Some(filter) => Box::into_raw(Box::new(filter)).cast(),
        None => std::ptr::null_mut(),
    }
}

unsafe extern "C" fn has<F: Integers>(f: *const c_void, keys: *const u64, n: usize, hit: *mut u8) {
    let filter = &*f.cast::<F>();
    let hits = std::slice::from_raw_parts_mut(hit, n);
    for (hit, key) in hits.iter_mut().zip(from_raw_parts(keys, n)) {
        *hit = filter.has(*key) as u8;
    }
}

unsafe extern "C" fn chase<F: Integers>(f: *const c_void, mut key: u64, n: usize) -> u64 {
    let filter = &*f.cast::<F>();
    for _ in 0..n {
        // bench_next of bench/peer.h
        key = key
            .wrapping_mul(0x9e3779b97f4a7c15)
            .wrapping_add(0x632be59bd9b4e019)
            .wrapping_add(filter.has(key) as u64);
    }
    key
}

unsafe extern "C" fn bytes<F: Integers>(f: *const c_void) -> usize {
    (*f.cast::<F>()).bytes()
}

unsafe extern "C" fn free<F: Integers>(f: *mut c_void) {
    drop(Box::from_raw(f.cast::<F>()));
}

const fn contestant<F: Integers>(name: &'static str, release: &'static str) -> Contestant {
    Contestant {
        version: 1,
        name: name.as_ptr().cast(),
        api: "one\0".as_ptr().cast(),
        release: release.as_ptr().cast(),
        build: Some(build::<F>),
        has: Some(has::<F>),
        chase: Some(chase::<F>),
        build_strings: None,
        has_strings: None,
        bytes: Some(bytes::<F>),
        free: Some(free::<F>),
        large_pages: false,
    }
}

/// The default hash of fastbloom.
impl Integers for fastbloom::BloomFilter {
    fn make(keys: &[u64]) -> Option<Self> {
        let mut filter = Self::with_false_pos(0.01).expected_items(keys.len());
        filter.insert_all(keys);
        Some(filter)
    }
    #[inline(always)]
    fn has(&self, key: u64) -> bool {
        self.contains(&key)
    }
    fn bytes(&self) -> usize {
        self.num_bits() / 8
    }
}

unsafe extern "C" fn build_strings(
    keys: *const u8,
    len: usize,
    n: usize,
    _threads: u32,
) -> *mut c_void {
    let mut filter = fastbloom::BloomFilter::with_false_pos(0.01).expected_items(n);
    for key in from_raw_parts(keys, n * len).chunks_exact(len) {
        filter.insert(key);
    }
    Box::into_raw(Box::new(filter)).cast()
}

unsafe extern "C" fn has_strings(
    f: *const c_void,
    keys: *const u8,
    len: usize,
    n: usize,
    hit: *mut u8,
) {
    let filter = &*f.cast::<fastbloom::BloomFilter>();
    for (i, key) in from_raw_parts(keys, n * len).chunks_exact(len).enumerate() {
        *hit.add(i) = filter.contains(key) as u8;
    }
}

macro_rules! fuse {
    ($name:ty) => {
        impl Integers for $name {
            fn make(keys: &[u64]) -> Option<Self> {
                Self::try_from(keys).ok()
            }
            #[inline(always)]
            fn has(&self, key: u64) -> bool {
                self.contains(&key)
            }
            fn bytes(&self) -> usize {
                std::mem::size_of_val(&*self.fingerprints)
            }
        }
    };
}
fuse!(xorf::BinaryFuse8);
fuse!(xorf::BinaryFuse16);

/// It takes hashes and 11 bits per key; 10 would be 1.2 %. One multiplication makes the hash.
impl Integers for sbbf_rs_safe::Filter {
    fn make(keys: &[u64]) -> Option<Self> {
        let mut filter = Self::new(11, keys.len());
        for key in keys {
            filter.insert_hash(mixed(*key));
        }
        Some(filter)
    }
    #[inline(always)]
    fn has(&self, key: u64) -> bool {
        self.contains_hash(mixed(key))
    }
    fn bytes(&self) -> usize {
        self.as_bytes().len()
    }
}

#[inline(always)]
fn mixed(key: u64) -> u64 {
    let wide = key as u128 * 0x9e3779b97f4a7c15f39cc0605cedc835;
    (wide >> 64) as u64 ^ wide as u64
}

static LIST: [Contestant; 4] = [
    Contestant {
        build_strings: Some(build_strings),
        has_strings: Some(has_strings),
        ..contestant::<fastbloom::BloomFilter>("fastbloom\0", "0.17.0\0")
    },
    contestant::<sbbf_rs_safe::Filter>("sbbf-rs-safe\0", "0.3.2\0"),
    contestant::<xorf::BinaryFuse8>("xorf BinaryFuse8\0", "0.13.0\0"),
    contestant::<xorf::BinaryFuse16>("xorf BinaryFuse16\0", "0.13.0\0"),
];

/// # Safety
/// `count` must point to a size.
#[no_mangle]
pub unsafe extern "C" fn bench_contestants(count: *mut usize) -> *const Contestant {
    *count = LIST.len();
    LIST.as_ptr()
}
