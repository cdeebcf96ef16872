// SPDX-License-Identifier: MIT
// The crate parquet's side of tests/peers/parquet.sh; parquet.py says what a case is.
//
//     write SEED N           prints cases with filters that the crate wrote
//     files SEED N FOLDER    writes files, and prints a case for each filter in them
//     read                   answers cases: reads the filter, compares, makes it anew
//     sizes                  what its sizing rule gives
use parquet::basic::Type;
use parquet::bloom_filter::Sbbf;
use parquet::data_type::*;
use parquet::file::properties::{ReaderProperties, WriterProperties};
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::{ReadOptionsBuilder, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type as SchemaType;
use std::io::BufRead;
use std::sync::Arc;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545f4914f6cdd1d)
    }
    fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }
    fn bytes(&mut self, len: u64) -> Vec<u8> {
        (0..len).map(|_| (self.next() >> 56) as u8).collect()
    }
    fn key(&mut self) -> Vec<u8> {
        let len = match self.below(4) {
            0 => self.below(3),
            1 => 8,
            2 => self.below(40),
            _ => self.below(200),
        };
        self.bytes(len)
    }
    fn count(&mut self) -> u64 {
        match self.below(5) {
            0 => 0,
            1 => 1,
            2 => self.below(10),
            3 => self.below(100),
            _ => self.below(1000),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap()).collect()
}

fn stored(filter: &Sbbf) -> Vec<u8> {
    let mut bytes = Vec::new();
    filter.write(&mut bytes).unwrap();
    bytes
}

fn has(filter: &Sbbf, key: &[u8]) -> bool {
    filter.check(&ByteArray::from(key.to_vec()))
}

fn print_case(head: String, filter: &Sbbf, keys: &[Vec<u8>], random: &mut Random) {
    println!("{head}");
    for key in keys {
        println!("add {}", hex(key));
    }
    for _ in 0..40 {
        let key = random.key();
        println!("ask {} {}", has(filter, &key) as u8, hex(&key));
    }
    println!("end");
}

fn write(random: &mut Random, n: u64) {
    for i in 0..n {
        let keys: Vec<_> = (0..random.count()).map(|_| random.key()).collect();
        let mut filter = match i % 2 {
            0 => Sbbf::new_with_ndv_fpp(keys.len() as u64, 0.01).unwrap(),
            _ => Sbbf::new(&vec![0; 32 * (1 + random.below(70) as usize)]),
        };
        for key in &keys {
            filter.insert(&ByteArray::from(key.clone()));
        }
        print_case(format!("filter {}", hex(&stored(&filter))), &filter, &keys, random);
    }
}

// ---- Files ----

const TYPES: [Type; 6] =
    [Type::INT32, Type::INT64, Type::FLOAT, Type::DOUBLE, Type::BYTE_ARRAY, Type::FIXED_LEN_BYTE_ARRAY];

fn column_type(i: usize, random: &mut Random) -> Arc<SchemaType> {
    let physical = TYPES[random.below(6) as usize];
    let length = if physical == Type::FIXED_LEN_BYTE_ARRAY { 5 } else { 0 };
    Arc::new(
        SchemaType::primitive_type_builder(&format!("c{i}"), physical)
            .with_length(length)
            .with_repetition(parquet::basic::Repetition::REQUIRED)
            .build()
            .unwrap(),
    )
}

fn four(key: &[u8]) -> [u8; 4] {
    key.try_into().unwrap()
}

fn eight(key: &[u8]) -> [u8; 8] {
    key.try_into().unwrap()
}

type ColumnWriter<'a> = parquet::file::writer::SerializedColumnWriter<'a>;

fn write_column(column: &mut ColumnWriter, physical: Type, keys: &[Vec<u8>]) {
    macro_rules! put {
        ($type:ty, $make:expr) => {{
            let values: Vec<_> = keys.iter().map(|k| $make(k)).collect();
            column.typed::<$type>().write_batch(&values, None, None).unwrap();
        }};
    }
    match physical {
        Type::INT32 => put!(Int32Type, |k: &Vec<u8>| i32::from_le_bytes(four(k))),
        Type::INT64 => put!(Int64Type, |k: &Vec<u8>| i64::from_le_bytes(eight(k))),
        Type::FLOAT => put!(FloatType, |k: &Vec<u8>| f32::from_le_bytes(four(k))),
        Type::DOUBLE => put!(DoubleType, |k: &Vec<u8>| f64::from_le_bytes(eight(k))),
        Type::BYTE_ARRAY => put!(ByteArrayType, |k: &Vec<u8>| ByteArray::from(k.clone())),
        _ => put!(FixedLenByteArrayType, |k: &Vec<u8>| FixedLenByteArray::from(k.clone())),
    };
}

fn value(physical: Type, random: &mut Random) -> Vec<u8> {
    match physical {
        Type::INT32 => random.bytes(4),
        Type::INT64 => random.bytes(8),
        Type::FLOAT => (random.below(1 << 20) as f32 / 7.0).to_le_bytes().to_vec(),
        Type::DOUBLE => (random.below(1 << 40) as f64 / 7.0).to_le_bytes().to_vec(),
        Type::BYTE_ARRAY => random.key(),
        _ => random.bytes(5),
    }
}

fn open(path: &str) -> SerializedFileReader<std::fs::File> {
    let properties = ReaderProperties::builder().set_read_bloom_filter(true).build();
    let options = ReadOptionsBuilder::new().with_reader_properties(properties).build();
    SerializedFileReader::new_with_options(std::fs::File::open(path).unwrap(), options).unwrap()
}

fn one_file(path: &str, random: &mut Random) {
    let columns = 1 + random.below(12) as usize;
    let fields: Vec<_> = (0..columns).map(|i| column_type(i, random)).collect();
    let schema = SchemaType::group_type_builder("schema").with_fields(fields.clone()).build().unwrap();
    let properties = WriterProperties::builder()
        .set_bloom_filter_enabled(true)
        .set_bloom_filter_max_ndv(1 + random.below(2000))
        .set_bloom_filter_fpp(if random.below(2) == 0 { 0.01 } else { 0.001 })
        .build();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties)).unwrap();
    let mut all = Vec::new();
    for _ in 0..1 + random.below(4) {
        let mut group = writer.next_row_group().unwrap();
        let rows = 1 + random.count();
        let mut keys = Vec::new();
        for field in &fields {
            let physical = field.get_physical_type();
            let values: Vec<_> = (0..rows).map(|_| value(physical, random)).collect();
            let mut column = group.next_column().unwrap().unwrap();
            write_column(&mut column, physical, &values);
            column.close().unwrap();
            keys.push(values);
        }
        group.close().unwrap();
        all.push(keys);
    }
    writer.close().unwrap();
    let reader = open(path);
    for (group, keys) in all.iter().enumerate() {
        let rows = reader.get_row_group(group).unwrap();
        for (i, values) in keys.iter().enumerate() {
            let filter = rows.get_column_bloom_filter(i).expect("a filter");
            print_case(format!("file {i} {group} c{i} {path}"), filter, values, random);
        }
    }
}

// ---- Answering ----

fn differs(words: &str) -> ! {
    println!("differs: {words}");
    std::process::exit(1)
}

fn read() {
    let (mut filters, mut answers, mut filter, mut keys, mut is_file) = (0, 0, Sbbf::new(&[]), Vec::new(), false);
    let mut bytes = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
        match word {
            "filter" => {
                bytes = unhex(rest);
                filter = Sbbf::from_bytes(&bytes).unwrap_or_else(|e| differs(&e.to_string()));
                is_file = false;
                keys = Vec::new();
            }
            "file" => {
                let words: Vec<_> = rest.splitn(4, ' ').collect();
                let (column, group) = (words[0].parse().unwrap(), words[1].parse().unwrap());
                let reader = open(words[3]);
                filter = reader.get_row_group(group).unwrap().get_column_bloom_filter(column).unwrap().clone();
                is_file = true;
                keys = Vec::new();
            }
            "add" => keys.push(unhex(rest)),
            "ask" => {
                let (answer, key) = rest.split_once(' ').unwrap();
                if has(&filter, &unhex(key)) != (answer == "1") {
                    differs(&line);
                }
                answers += 1;
            }
            _ => {
                let mut anew = Sbbf::new(&vec![0; 32 * filter.num_blocks()]);
                for key in &keys {
                    if !has(&filter, key) {
                        differs("a key is lost");
                    }
                    anew.insert(&ByteArray::from(key.clone()));
                }
                if stored(&anew) != stored(&filter) || (!is_file && stored(&filter) != bytes) {
                    differs("other bytes");
                }
                answers += keys.len();
                filters += 1;
            }
        }
    }
    if filters == 0 {
        differs("no case came");
    }
    println!("{filters} filters, {answers} answers");
}

fn sizes(random: &mut Random) {
    for i in 0..600 {
        let keys = if i < 300 { i } else { random.below(1 << (i % 20 + 4)) };
        let rate = [0.1, 0.05, 0.01, 0.001, 0.00001][random.below(5) as usize];
        let filter = Sbbf::new_with_ndv_fpp(keys, rate).unwrap();
        println!("size {keys} {rate} {}", 32 * filter.num_blocks());
    }
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let number = |i: usize| words[i].parse::<u64>().unwrap();
    match words[1].as_str() {
        "write" => write(&mut Random(number(2)), number(3)),
        "files" => {
            let random = &mut Random(number(2));
            (0..number(3)).for_each(|i| one_file(&format!("{}/{i}.parquet", words[4]), random))
        }
        "read" => read(),
        _ => sizes(&mut Random(7)),
    }
}
