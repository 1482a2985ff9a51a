//! Stands between a store and its server, and cuts the connection around a COMMIT (promise R-5).

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// Where to cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// The next COMMIT does not reach the server.
    BeforeCommit,
    /// The next COMMIT does, and its answer is lost.
    AfterCommit,
    /// The same, and nobody gets through any more.
    AfterCommitForGood,
}

pub(super) struct Proxy {
    pub(super) url: String,
    armed: Arc<Mutex<Option<Cut>>>,
}

impl Proxy {
    /// A way to the server of an address; it ends with the process.
    pub(super) fn before(url: &str) -> Self {
        let (login, rest) = url.split_once('@').unwrap();
        let (server, name) = rest.split_once('/').unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("{login}@{}/{name}", listener.local_addr().unwrap());
        let armed = Arc::new(Mutex::new(None));
        let (server, for_thread) = (server.to_owned(), Arc::clone(&armed));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let client = client.unwrap();
                if *for_thread.lock().unwrap() == Some(Cut::AfterCommitForGood) {
                    continue;
                }
                let server = TcpStream::connect(&server).unwrap();
                forward(client, server, Arc::clone(&for_thread));
            }
        });
        Self { url, armed }
    }

    /// Cuts at the next COMMIT of a transaction that writes.
    pub(super) fn cut(&self, cut: Cut) {
        *self.armed.lock().unwrap() = Some(cut);
    }
}

/// Whether this is a writer's COMMIT: readers say the same word, but their transaction began as one that only reads.
fn commits(part: &[u8]) -> bool {
    part.starts_with(b"Q") && part.get(5..11) == Some(b"COMMIT")
}

fn forward(client: TcpStream, server: TcpStream, armed: Arc<Mutex<Option<Cut>>>) {
    let lost = Arc::new(Mutex::new(false));
    let (mut from_server, mut to_client) =
        (server.try_clone().unwrap(), client.try_clone().unwrap());
    let answers_lost = Arc::clone(&lost);
    std::thread::spawn(move || {
        let mut part = [0; 16_384];
        while let Ok(length @ 1..) = from_server.read(&mut part) {
            if *answers_lost.lock().unwrap() || to_client.write_all(&part[..length]).is_err() {
                break;
            }
        }
        for stream in [&from_server, &to_client] {
            let _gone = stream.shutdown(Shutdown::Both);
        }
    });
    let (mut from_client, mut to_server) = (client, server);
    std::thread::spawn(move || {
        let mut part = [0; 16_384];
        let mut writes = false;
        while let Ok(length @ 1..) = from_client.read(&mut part) {
            let sent = &part[..length];
            writes |= sent.windows(10).any(|words| words == b"READ WRITE");
            if writes && commits(sent) {
                let mut armed = armed.lock().unwrap();
                match *armed {
                    Some(Cut::BeforeCommit) => {
                        *armed = None;
                        break;
                    }
                    Some(Cut::AfterCommit) => {
                        *armed = None;
                        *lost.lock().unwrap() = true;
                    }
                    Some(Cut::AfterCommitForGood) => *lost.lock().unwrap() = true,
                    None => {}
                }
            }
            if to_server.write_all(sent).is_err() {
                break;
            }
        }
        for stream in [&from_client, &to_server] {
            let _gone = stream.shutdown(Shutdown::Both);
        }
    });
}
