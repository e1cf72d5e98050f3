//! One life of the server: claim the data folder, listen, say so, serve, end.
//!
//! Invariant: stdout gets the one ready line and nothing else; every failure is one sentence.

use crate::access::launch::LaunchCodes;
use crate::access::pace::Pace;
use crate::access::sign_ins::SignIns;
use crate::access::throttle::Throttle;
use crate::app::instance::{self, Instance};
use crate::app::{App, Clock, Parts};
use crate::config::{Browser, Config};
use crate::connections::{Connections, Temporary, source};
use crate::engine::duckdb;
use crate::engine::worker::process;
use crate::http;
use crate::runs::{Runs, RunsConfig};
use crate::sample;
use crate::store::Store;
use std::io::{self, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Attempts to find a port that is free on both loopback addresses.
const PORT_ATTEMPTS: usize = 20;
/// How long runs may take to end. With [`CLOSE`] it stays under the ten seconds in which a server ends.
const END_RUNS: Duration = Duration::from_secs(6);
/// How long the store may take to close.
const CLOSE: Duration = Duration::from_secs(2);

/// Serves until a signal; the `Err` is one sentence for the terminal.
pub async fn run(config: Config) -> Result<(), String> {
    if let Some(library) = &config.duckdb {
        duckdb::library::place(library.clone());
    }
    match process::own_binary() {
        Ok(binary) => process::start_from(binary),
        Err(cause) => tracing::warn!(%cause, "Sheaf does not find its own binary, so SQLite and DuckDB can't be started"),
    }
    let clock = Clock::system();
    let instance = Instance::claim(&config.data).map_err(|e| e.to_string())?;
    let (port, listeners) = listen(config.port).await?;
    crate::engine::dial::own::note(port);
    let codes = instance.launch_codes().map_err(|e| unusable(&config.data, &e))?;
    let app = open(&config, port, codes, clock).await?;
    let stopping = app.stopping.clone();
    stop_on_signal(stopping.clone()).map_err(|e| format!("Signals can't be received: {e}."))?;
    let link = announce(&app, &instance).map_err(|e| unusable(&config.data, &e))?;
    if config.browser == Browser::Open {
        open_browser(&instance, &link);
    }
    let ending = async {
        stopping.cancelled().await;
        tracing::info!("ending");
        // Beside the drain of connections, not after it: who waits for a page is answered by this.
        app.runs.shut_down().await;
    };
    tokio::join!(http::listen::serve(listeners, http::router(app.clone()), stopping.clone()), ending);
    if tokio::time::timeout(CLOSE, app.store.close()).await.is_err() {
        tracing::warn!("the store took too long to close");
    }
    instance.withdraw();
    Ok(())
}

fn unusable(data: &Path, cause: &dyn std::fmt::Display) -> String {
    format!("The data folder {} can't be used: {cause}.", data.display())
}

async fn open(config: &Config, port: u16, launch_codes: LaunchCodes, clock: Clock) -> Result<App, String> {
    let store =
        Store::open(&config.data).await.map_err(|e| format!("Sheaf's own store in {} can't be opened: {e}.", config.data.display()))?;
    let unreadable = |e: crate::store::StoreError| format!("Sheaf's own store in {} can't be read: {e}.", config.data.display());
    let sign_ins = SignIns::new(store.sign_ins().await.map_err(unreadable)?);
    let connections = Connections::load(store.clone(), &config.data, temporary(config)).await.map_err(unreadable)?;
    let runs = RunsConfig { shut_down: END_RUNS, ..RunsConfig::new(config.data.join("spool")) };
    let runs = Runs::new(runs, crate::engine::engine);
    Ok(App::new(Parts {
        port,
        store,
        connections,
        launch_codes,
        sign_ins,
        throttle: Throttle::default(),
        pace: Pace::default(),
        runs,
        clock,
        stopping: CancellationToken::new(),
        last_report: 0.into(),
    }))
}

/// The connections of the command line; with none, the sample.
fn temporary(config: &Config) -> Vec<Temporary> {
    if config.sources.is_empty() { vec![sample(&config.data)] } else { config.sources.clone() }
}

/// The sample; the first time it is made beside the start, and whoever opens it waits for it.
fn sample(data: &Path) -> Temporary {
    let (made, making) = watch::channel(None);
    let folder = data.to_owned();
    tokio::task::spawn_blocking(move || {
        let outcome = sample::ensure(&folder);
        if let Err(cause) = &outcome {
            tracing::warn!(%cause, "no sample database");
        }
        made.send_replace(Some(outcome.map(drop).map_err(|cause| cause.to_string())));
    });
    source::sample(&sample::path(data), making)
}

/// Listens on both loopback addresses at the same port; the port that it came to be.
async fn listen(port: u16) -> Result<(u16, Vec<TcpListener>), String> {
    for _ in 0..PORT_ATTEMPTS {
        let first = bind(Ipv4Addr::LOCALHOST.into(), port).await?;
        let taken = first.local_addr().map_err(|e| format!("The port can't be read: {e}."))?.port();
        match TcpListener::bind(SocketAddr::new(Ipv6Addr::LOCALHOST.into(), taken)).await {
            Ok(second) => return Ok((taken, vec![first, second])),
            Err(e) if e.kind() != io::ErrorKind::AddrInUse => {
                tracing::debug!(cause = %e, "no IPv6 on this machine");
                return Ok((taken, vec![first]));
            }
            // Whoever has that port there could pass for us at http://localhost.
            Err(_) if port != 0 => return Err(in_use(port)),
            Err(_) => {}
        }
    }
    Err("No port is free on both 127.0.0.1 and [::1].".to_owned())
}

async fn bind(address: std::net::IpAddr, port: u16) -> Result<TcpListener, String> {
    TcpListener::bind(SocketAddr::new(address, port)).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => in_use(port),
        io::ErrorKind::PermissionDenied => format!("Port {port} may not be used by this user; --listen 127.0.0.1:0 takes a free one."),
        _ => format!("Port {port} can't be listened on: {error}."),
    })
}

fn in_use(port: u16) -> String {
    format!("Port {port} is in use by another program; --listen 127.0.0.1:0 takes a free one.")
}

/// Prints the ready line; the link in it.
fn announce(app: &App, instance: &Instance) -> io::Result<String> {
    instance.announce(app.port)?;
    let code = app.launch_codes.issue(app.clock.now())?;
    let link = instance::link(app.port, code.reveal());
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "Sheaf is ready: {link}")?;
    stdout.flush()?;
    Ok(link)
}

/// Opens the person's browser by a file that only he can read, because a command line is for all to see.
fn open_browser(instance: &Instance, link: &str) {
    let opened = instance.write_launch_page(link).and_then(|page| {
        let mut command = opener(&page);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn()
    });
    // Waited for, so that it does not stay behind as a zombie.
    std::thread::spawn(|| {
        let opened = opened.and_then(|mut child| child.wait());
        if !opened.is_ok_and(|status| status.success()) {
            tracing::info!("no browser could be opened; the link above does it by hand");
        }
    });
}

fn opener(page: &Path) -> Command {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let mut command = Command::new(program);
    command.arg(page);
    command
}

#[cfg(unix)]
fn stop_on_signal(stopping: CancellationToken) -> io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::spawn(async move {
        let mut wait = async || tokio::select! { _ = interrupt.recv() => {}, _ = terminate.recv() => {} };
        wait().await;
        stopping.cancel();
        wait().await;
        tracing::warn!("a second signal: ending at once");
        std::process::exit(1);
    });
    Ok(())
}

#[cfg(not(unix))]
fn stop_on_signal(stopping: CancellationToken) -> io::Result<()> {
    tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            stopping.cancel();
        }
    });
    Ok(())
}
