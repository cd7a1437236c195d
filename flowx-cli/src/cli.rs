//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::source::Source;

/// What an agent may ask your program for: declared in source, reviewed as a diff.
#[derive(Parser, Debug)]
#[command(
    name = "flowx",
    version,
    propagate_version = true,
    max_term_width = 100
)]
#[command(
    after_help = "SOURCE, BASE and HEAD: PATH (a manifest, a crate folder, a saved tools/list) · git:REV · git:REV... \
    (merge base with HEAD) · git:REV:PATH · bin:PATH · https://… or stdio:COMMAND (a running MCP server) · - (standard input)\n\n\
    Exit codes: 0 nothing at or above the fail level · 1 findings · 2 usage · 3 an input could not be loaded or compared · \
    4 the committed manifest is stale"
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// The flags that every verb has.
    #[command(flatten)]
    pub common: Common,
}

/// The flags that every verb has.
#[derive(Args, Clone, Debug, Default)]
pub struct Common {
    /// The Cargo.toml of the crate; the nearest one upwards when unsaid
    #[arg(long, global = true, value_name = "PATH")]
    pub manifest_path: Option<PathBuf>,
    /// The package, in a workspace
    #[arg(short, long, global = true, value_name = "NAME")]
    pub package: Option<String>,
    /// Features to switch on, separated by commas or spaces
    #[arg(long, global = true, value_name = "FEATURES")]
    pub features: Vec<String>,
    /// Switch on every feature
    #[arg(long, global = true)]
    pub all_features: bool,
    /// Leave the default feature off
    #[arg(long, global = true)]
    pub no_default_features: bool,
    /// The target triple whose cfg counts; this machine's when unsaid
    #[arg(long, global = true, value_name = "TRIPLE")]
    pub target: Option<String>,
    /// A cfg that a build script sets: `name`, `name="value"`, and `!name` for one that is off
    #[arg(long, global = true, value_name = "CFG")]
    pub cfg: Vec<String>,
    /// How to write what was found
    #[arg(long, global = true, value_enum)]
    pub format: Option<OutputFormat>,
    /// What makes the exit code 1: classes of a diff (security, breaking, undecided, additive, neutral) or the lowest
    /// severity of check and review (error, warning, note); `none` for nothing
    #[arg(long, global = true, value_delimiter = ',', value_name = "CLASS")]
    pub fail_on: Vec<String>,
    /// The file of allowances: a path, or git:REV:PATH; `flowx-allow.toml` beside Cargo.toml when unsaid
    #[arg(long, global = true, value_name = "FILE")]
    pub allow: Option<String>,
    /// How long a running server may take in all before it is given up
    #[arg(long, global = true, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,
    /// When to colour
    #[arg(long, global = true, value_enum, default_value_t = clap::ColorChoice::Auto)]
    pub color: clap::ColorChoice,
    /// Nothing on standard error but errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

/// `--format`: not every verb has every one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// For a terminal
    Human,
    /// The documents of schemas/
    Json,
    /// SARIF 2.1.0 (check, diff, review)
    Sarif,
    /// Annotations of a GitHub workflow (check, diff, review)
    Github,
    /// A comment on a pull request, or a page
    Markdown,
    /// A test report (check, diff, review)
    Junit,
    /// A Mermaid flowchart (graph)
    Mermaid,
    /// Graphviz DOT (graph)
    Dot,
    /// A picture (graph)
    Svg,
    /// One page without network (graph)
    Html,
}

/// The verbs.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Adds FlowX to an existing crate, after showing the change and asking
    Init(Init),
    /// Scans the sources, without a build, and prints, writes or checks flowx.manifest.json
    Manifest(Manifest),
    /// Runs every source rule
    Check,
    /// Compares two surfaces
    Diff(Diff),
    /// Looks at one manifest as a whole
    Review(OneSource),
    /// Shows the page of a rule
    Explain {
        /// The rule's id
        id: String,
    },
    /// Lists the rules
    Rules,
    /// Shows the surface as a table, or one entry of it
    Show(Show),
    /// Draws flows, capabilities, effects, permissions and agents
    Graph(Graph),
    /// Writes what follows from the manifest
    Generate(Generate),
    /// Shows the manifest inside of a built program, verbatim, with its digest
    Inspect(Inspect),
    /// Decides what agents have proposed, on a running server or in its store
    Proposals(Proposals),
    /// Looks after the audit trail
    Audit(Audit),
    /// Prints shell completions
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Writes the man pages into a folder
    Man {
        /// The folder
        dir: PathBuf,
    },
}

/// `flowx init`.
#[derive(Args, Debug)]
pub struct Init {
    /// The crate's folder
    #[arg(default_value = ".")]
    pub dir: PathBuf,
    /// Do not ask
    #[arg(short, long)]
    pub yes: bool,
    /// Depend on FlowX at this path instead of a released version
    #[arg(long, value_name = "FOLDER")]
    pub flowx_path: Option<PathBuf>,
    /// Depend on FlowX in this git repository instead of a released version
    #[arg(long, value_name = "URL", conflicts_with = "flowx_path")]
    pub flowx_git: Option<String>,
}

/// `flowx manifest`.
#[derive(Args, Debug)]
pub struct Manifest {
    /// Write flowx.manifest.json beside Cargo.toml
    #[arg(long, conflicts_with = "check")]
    pub write: bool,
    /// Exit with 4 when the committed flowx.manifest.json is not what the sources say
    #[arg(long)]
    pub check: bool,
    /// Indent, for people; not the canonical form
    #[arg(long, conflicts_with_all = ["write", "check"])]
    pub pretty: bool,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = ["write", "check"])]
    pub out: Option<PathBuf>,
}

/// `flowx diff`.
#[derive(Args, Debug)]
pub struct Diff {
    /// What was; with --since-all-tags, what is
    pub base: Option<Source>,
    /// What is; the working tree when unsaid
    pub head: Option<Source>,
    /// Compare with the manifest of every tag that matches, e.g. 'v*'
    #[arg(long, value_name = "PATTERN", conflicts_with = "head")]
    pub since_all_tags: Option<String>,
    /// Read the allowances from BASE, so that a change cannot allow itself
    #[arg(long)]
    pub allow_from_base: bool,
}

/// Verbs over one surface.
#[derive(Args, Debug)]
pub struct OneSource {
    /// What to look at; the working tree when unsaid
    pub source: Option<Source>,
}

/// `flowx show`.
#[derive(Args, Debug)]
pub struct Show {
    /// What to look at, and the id of one entry; a single argument that is an id is looked up in the working tree
    #[arg(value_name = "SOURCE] [ID", num_args = 0..=2)]
    pub args: Vec<String>,
}

/// `flowx graph`.
#[derive(Args, Debug)]
pub struct Graph {
    /// What to draw; the working tree when unsaid
    pub source: Option<Source>,
    /// A second surface: what changed from the first to it is coloured
    pub head: Option<Source>,
    /// Write to this file; its ending decides the format when --format does not
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Overwrite the file
    #[arg(long)]
    pub force: bool,
}

/// What `flowx generate` makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Artefact {
    /// The result of tools/list, as the server sends it
    Mcp,
    /// OpenAPI 3.1 of the HTTP routes
    Openapi,
    /// An Agent Skills file (SKILL.md)
    Skill,
    /// A reference in Markdown
    Docs,
}

/// `flowx generate`.
#[derive(Args, Debug)]
pub struct Generate {
    /// What to make
    #[arg(value_enum)]
    pub what: Artefact,
    /// From what; the working tree when unsaid
    pub source: Option<Source>,
    /// Write to this file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Overwrite the file
    #[arg(long)]
    pub force: bool,
}

/// `flowx inspect`.
#[derive(Args, Debug)]
pub struct Inspect {
    /// The built program
    pub binary: PathBuf,
    /// Only the digests
    #[arg(long)]
    pub digest: bool,
}

/// Where the operator's side is found.
#[derive(Args, Clone, Debug)]
pub struct Server {
    /// The server, as `http://127.0.0.1:8080`; or, to read only, its store: `sqlite:FILE`, `postgres://…`
    #[arg(long, env = "FLOWX_SERVER", global = true, value_name = "URL")]
    pub server: Option<String>,
    /// The environment variable that holds the bearer token
    #[arg(
        long,
        global = true,
        default_value = "FLOWX_TOKEN",
        value_name = "NAME"
    )]
    pub token_env: String,
}

/// `flowx proposals`.
#[derive(Args, Debug)]
pub struct Proposals {
    /// Where.
    #[command(flatten)]
    pub server: Server,
    /// What to do with them.
    #[command(subcommand)]
    pub verb: ProposalVerb,
}

/// What to do with proposals.
#[derive(Subcommand, Debug)]
pub enum ProposalVerb {
    /// Lists proposals
    List {
        /// Only those in this state
        #[arg(long, default_value = "waiting")]
        status: String,
    },
    /// Shows one, with everything a decision is about
    Show {
        /// Its id
        id: String,
    },
    /// Says yes to exactly what `show` showed
    Approve {
        /// Its id
        id: String,
        /// The fingerprint that was shown; asked for when unsaid
        #[arg(long)]
        fingerprint: Option<String>,
        /// Do not ask: the fingerprint given is the one you read
        #[arg(short, long, requires = "fingerprint")]
        yes: bool,
    },
    /// Says no
    Reject {
        /// Its id
        id: String,
        /// Why; the agent is told
        #[arg(long)]
        reason: String,
    },
}

/// `flowx audit`.
#[derive(Args, Debug)]
pub struct Audit {
    /// Where.
    #[command(flatten)]
    pub server: Server,
    /// What to do.
    #[command(subcommand)]
    pub verb: AuditVerb,
}

/// What to do with the audit trail.
#[derive(Subcommand, Debug)]
pub enum AuditVerb {
    /// Checks the chain: no record edited, missing or moved
    Verify {
        /// An exported trail (JSON lines); the server's when unsaid
        file: Option<PathBuf>,
        /// The sequence number and hash of the last record that is known to be true: `SEQ:HASH`
        #[arg(long, value_name = "SEQ:HASH")]
        head: Option<String>,
    },
    /// Prints the trail as JSON lines
    Export,
}
