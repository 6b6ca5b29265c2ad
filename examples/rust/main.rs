// SPDX-License-Identifier: Apache-2.0
// catalogue HOST PORT: the same shop in Rust, by FFI to the C library. It needs no crate:
//
//   rustc -O --edition 2021 main.rs -o catalogue $(pkg-config --libs heatsink)
use std::ffi::{c_char, c_int, c_void, CStr};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::ptr::null_mut;

const OK: c_int = 0;
const NONE: c_int = 1; // no error: there is no such key
const FAILED: c_int = -2;

type Load = extern "C" fn(*mut c_void, *const c_char, usize, *mut c_void) -> c_int;

// Of heatsink.h: what this program calls. Handles are opaque.
#[link(name = "heatsink")]
extern "C" {
    fn heatsink_options_new() -> *mut c_void;
    fn heatsink_options_free(options: *mut c_void);
    fn heatsink_options_yaml(options: *mut c_void, yaml: *const c_char) -> c_int;
    fn heatsink_loader_new(load: Load, user: *mut c_void, free: *mut c_void) -> *mut c_void;
    fn heatsink_loader_free(loader: *mut c_void);
    fn heatsink_reply_value(reply: *mut c_void, value: *const c_char, size: usize) -> c_int;
    fn heatsink_reply_error(reply: *mut c_void, message: *const c_char);
    fn heatsink_open(options: *const c_void, client: *mut *mut c_void) -> c_int;
    fn heatsink_free(client: *mut c_void);
    fn heatsink_is_hot(client: *mut c_void, key: *const c_char, size: usize) -> c_int;
    fn heatsink_get_copy(
        client: *mut c_void, key: *const c_char, key_size: usize, loader: *const c_void,
        buffer: *mut c_char, capacity: usize, size: *mut usize,
    ) -> c_int;
    fn heatsink_last_error() -> *const c_char;
}

fn not_a_reply(error: std::num::ParseIntError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

// Where the values come from, and how often the library asked.
struct Source {
    address: String,
    loads: std::sync::atomic::AtomicU64,
}

impl Source {
    // A minimal GET, so that the example needs no Redis client. Call your own client instead.
    fn get(&self, key: &[u8]) -> io::Result<Option<Vec<u8>>> {
        let mut server = BufReader::new(TcpStream::connect(&self.address)?);
        write!(server.get_mut(), "*2\r\n$3\r\nGET\r\n${}\r\n", key.len())?;
        server.get_mut().write_all(&[key, b"\r\n"].concat())?;
        let mut head = String::new();
        server.read_line(&mut head)?;
        let size: i64 = head.trim_start_matches('$').trim().parse().map_err(not_a_reply)?;
        if size < 0 {
            return Ok(None);
        }
        let mut value = vec![0; size as usize];
        server.read_exact(&mut value)?;
        Ok(Some(value))
    }
}

// Any thread calls it, the client's own threads, too. It must not panic.
extern "C" fn load(user: *mut c_void, key: *const c_char, size: usize, to: *mut c_void) -> c_int {
    let (source, key) = unsafe {
        (&*(user as *const Source), std::slice::from_raw_parts(key as *const u8, size))
    };
    source.loads.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    match source.get(key) {
        Ok(Some(value)) => unsafe { heatsink_reply_value(to, value.as_ptr().cast(), value.len()) },
        Ok(None) => NONE,
        Err(_) => unsafe {
            heatsink_reply_error(to, b"the server does not answer\0".as_ptr().cast());
            FAILED
        },
    }
}

fn last_error() -> String {
    unsafe { CStr::from_ptr(heatsink_last_error()) }.to_string_lossy().into_owned()
}

// The library, owned: the handles are freed in this order, and the source outlives them.
struct Catalogue {
    client: *mut c_void,
    loader: *mut c_void,
    source: Box<Source>,
}

impl Catalogue {
    fn open(address: String) -> Result<Self, String> {
        let source = Box::new(Source { address, loads: 0.into() });
        let user = &*source as *const Source as *mut c_void;
        unsafe {
            let loader = heatsink_loader_new(load, user, null_mut());
            let options = heatsink_options_new();
            let mut client = null_mut();
            // Lower thresholds than in a service: this program is the only reader.
            let yaml = b"detection: {hot-qps: 100}\0";
            let mut code = heatsink_options_yaml(options, yaml.as_ptr().cast());
            if code == OK {
                code = heatsink_open(options, &mut client);
            }
            heatsink_options_free(options);
            let opened = Catalogue { client, loader, source };
            if code == OK { Ok(opened) } else { Err(last_error()) }
        }
    }

    fn get(&self, key: &str) -> Result<Option<String>, String> {
        let mut buffer = [0u8; 4096];
        let mut size = 0;
        let code = unsafe {
            heatsink_get_copy(
                self.client, key.as_ptr().cast(), key.len(), self.loader,
                buffer.as_mut_ptr().cast(), buffer.len(), &mut size,
            )
        };
        match code {
            OK => Ok(Some(String::from_utf8_lossy(&buffer[..size]).into_owned())),
            NONE => Ok(None),
            _ => Err(last_error()),
        }
    }

    fn is_hot(&self, key: &str) -> bool {
        unsafe { heatsink_is_hot(self.client, key.as_ptr().cast(), key.len()) == 1 }
    }

    fn loads(&self) -> u64 {
        self.source.loads.load(std::sync::atomic::Ordering::Relaxed)
    }
}

impl Drop for Catalogue {
    fn drop(&mut self) {
        unsafe {
            heatsink_free(self.client);
            heatsink_loader_free(self.loader);
        }
    }
}

fn main() -> Result<(), String> {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 3 {
        return Err("usage: catalogue HOST PORT".into());
    }
    let catalogue = Catalogue::open(format!("{}:{}", arguments[1], arguments[2]))?;
    while !catalogue.is_hot("product:1") {
        catalogue.get("product:1")?;
    }
    let before = catalogue.loads();
    let mut price = None;
    for _ in 0..1000 {
        price = catalogue.get("product:1")?;
    }
    let hits = 1000 - (catalogue.loads() - before);
    println!("product:1 costs {}", price.unwrap_or_default());
    println!("{hits} of 1000 reads did not reach the server");
    Ok(())
}
