//! A provider of language models that says what a test has it say: real HTTP on loopback, from a thread of its own.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

/// A request as it came.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Method and path.
    pub line: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl Asked {
    /// A header, by its name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// What a request is answered with.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A status with a JSON body.
    Json(u16, String),
    /// These very bytes.
    Raw(Vec<u8>),
    /// Nothing, until the client goes away.
    Never,
}

/// A running provider. Its thread ends with the process.
#[derive(Debug)]
pub struct Provider {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Provider {
    /// Starts one that answers as `script` says. The script may be called by several connections at once.
    pub fn start(
        script: impl Fn(&Asked) -> Reply + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (seen, script) = (Arc::clone(&asked), Arc::new(script));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, script) = (Arc::clone(&seen), Arc::clone(&script));
                // A connection that breaks off is the client's business; the test sees what came.
                std::thread::spawn(move || drop(converse(stream, &seen, script.as_ref())));
            }
        });
        Ok(Self { address, asked })
    }

    /// Its address, with a slash at the end.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// What it was asked, oldest first.
    pub fn asked(&self) -> Vec<Asked> {
        let asked = self.asked.lock();
        asked.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn converse(
    mut stream: TcpStream,
    seen: &Mutex<Vec<Asked>>,
    script: &(impl Fn(&Asked) -> Reply + ?Sized),
) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(asked) = read(&mut reader)? {
        seen.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(asked.clone());
        match script(&asked) {
            Reply::Json(status, body) => write!(
                stream,
                "HTTP/1.1 {status} Scripted\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
                body.len()
            )?,
            Reply::Raw(bytes) => return stream.write_all(&bytes),
            Reply::Never => {
                let mut rest = Vec::new();
                return reader.read_to_end(&mut rest).map(drop);
            }
        }
    }
    Ok(())
}

/// The next request of a connection.
fn read(reader: &mut impl BufRead) -> std::io::Result<Option<Asked>> {
    let mut asked = Asked::default();
    if reader.read_line(&mut asked.line)? == 0 {
        return Ok(None);
    }
    asked.line.truncate(asked.line.trim_end().len());
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else {
            break;
        };
        let header = (name.to_ascii_lowercase(), value.trim().to_owned());
        asked.headers.push(header);
    }
    let length = asked.header("content-length").and_then(|n| n.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body)?;
    asked.body = String::from_utf8_lossy(&body).into_owned();
    Ok(Some(asked))
}
