import type { Rich, Value } from "../format.ts";

// operator/changes.tsx
export const PAUSE = { sends: "Pause sends", deliveries: "Pause deliveries" } as const;
export const RESUME = { sends: "Resume sends", deliveries: "Resume deliveries" } as const;
export const notificationCampaigns = "Notification campaigns";
export const whilePausedNewCampaignsAreAccepted =
  "While paused, new campaigns are accepted and wait. Running ones stop between two batches.";
export const webhookDeliveries = "Webhook deliveries";
export const whilePausedEventsAreQueuedFor =
  "While paused, events are queued for webhooks and wait. Nothing is lost.";
export const paused = "paused";
export const running = "running";
export const by = (name: Rich, name2: Rich, time: Rich): Rich => [name, ", by ", name2, ", ", time];
export const reasonWhichEveryoneSees = "Reason, which everyone sees";
export const theReceiverMoves = "the receiver is moving";
export const pauseAndResume = "Pause and resume";
export const isPaused = (name: Rich): Rich => [name, " paused"];
export const indexAndState = "index and state";
export const state = "state";
export const index = "index";
export const backups = "Backups";
export const aBackupIsUnderWay = "A backup is running";
export const backUpNow = "Back up now";
export const aBackupHoldsTheStateApps = (keep: Value) =>
  `A backup holds the state: apps, webhooks, keys, deliveries. It is verified after writing. The index can be rebuilt. The last ${keep} made here are kept; scheduled ones are not deleted for them.`;
export const theNextScheduledOneIsAt = (nextAt: Value) => ` The next scheduled one is at ${nextAt}.`;
export const started = "Started";
export const outcome = "Outcome";
export const verified = "verified";
export const failed = "failed";
export const directory = "Directory";
export const holds = "Holds";
export const size = "Size";
export const took = "Took";
export const deleted = "made, deleted since";
export const damaged = "damaged";
export const check = "Check";
export const checking = "Checking";
export const checkedAgo = (when: Rich): Rich => ["checked ", when];
export const download = "Download";
export const actions = "Actions";
export const theDownloadBegins = "The download begins.";
export const aDownloadHoldsSecrets =
  " A download is one archive in the stored form. Without backup.encryption_key it has the secrets of webhooks: store it as safely as the node's disk.";

// operator/operator.tsx
export const searchTheLog = "Search the log";
export const process = "process";
export const resident = "resident";
export const thisPageIsLocked = "This page is locked";
export const itDidNotOpen = "It did not open:";
export const yourSessionIsOver = "Your session has ended:";
export const theNodeHasStartedAgain =
  "The node has started again, as you asked. Open this page with a new link.";
export const yourBrowserSignsRequestsOnlyOn = (code: Rich, code2: Rich): Rich => [
  "Your browser only signs requests over https or on the machine itself. Open this node at its https address, or through a tunnel: ",
  code,
  ", then ",
  code2,
  ".",
];
export const thisPageShowsTheOperatorThe = (code: Rich, code2: Rich): Rich => [
  "This page shows the operator the threads, log, settings and backups of this node. On the node's machine, as the user that runs it and with its settings (",
  code,
  " or ",
  code2,
  "), this command prints a link that opens the page once:",
];
export const fromAnotherMachineWithSetOn = (code: Rich): Rich => [
  "From another machine, with ",
  code,
  " set on both:",
];
export const theLinkIsValidForA =
  "The link is valid for a minute, the session for 12 hours or until the node restarts. With several nodes behind one address, open the address of the node itself: a session belongs to one of them.";
export const isPublic = (link: Rich): Rich => [link, " is public."];
export const theStatusOfTheNode = "The status of the node";
export const eventLoopDelayP99 = "Event loop delay, p99";
export const cpuOfOneCore = "CPU, of one core";
export const writeAheadLogs = "Write-ahead logs";
export const nodeUpThisPageShowsThis = (node: Rich, uptimeSecs: Rich): Rich => [
  "Node ",
  node,
  ", up ",
  uptimeSecs,
  ". This page shows this node only.",
];
export const operator = "Operator";
export const status = "Status";
export const lock = "Lock";
export const thisIsADemoNetworkSo = (code: Rich): Rich => [
  "This is a demo network, so anyone can look. To change something, open the page with ",
  code,
  ".",
];

// operator/reports.tsx
export const startStopStatus = "start, stop, status";
export const writesTheIndex = "writes the index";
export const writesTheState = "writes the state";
export const grpc = "gRPC";
export const filtersOfWebhooks = "filters of webhooks";
export const followsTheOtherNode = "follows the other node";
export const trending = "trending";
export const sweepsAndBackups = "sweeps and backups";
export const callsWebhooks = "calls webhooks";
export const sendsNotifications = "sends notifications";
export const signsAndSubmits = "signs and submits";
export const none = "none";
export const threads = "Threads";
export const thread = "Thread";
export const servesRequests = "serves requests";
export const stateTitle = "State";
export const doesNotRespond = "does not respond";
export const busy = "busy";
export const ok = "ok";
export const delayP99 = "Delay, p99";
export const longestDelay = "Longest delay";
export const heap = "Heap";
export const lastError = "Last error";
export const diskAndLimits = "Disk and limits";
export const theDiskHasAFault = "The disk has a fault.";
export const freeOnTheDisk = "Free on the disk";
export const of = (totalBytes: Value) => `of ${totalBytes}`;
export const indexTitle = "Index";
export const log = (indexWalBytes: Value) => `log ${indexWalBytes}`;
export const log2 = (stateWalBytes: Value) => `log ${stateWalBytes}`;
export const memory = "Memory";
export const ofACore = (cpuPercent: Value) => `${cpuPercent} % of a core`;
export const usedOfMax = (part: Rich, part2: Rich): Rich => [part, " of ", part2];
export const logOfWarnings = "Warnings";
export const noWarningsOrErrorsSinceThe = "No warnings or errors since the start.";
export const copyAll = "Copy all";
export const settings = "Settings";

// status/history.tsx
export const n1Hour = "1 h";
export const lastHour = "Last hour";
export const n6Hours = "6 h";
export const last6Hours = "Last 6 hours";
export const n24Hours = "24 h";
export const n7Days = "7 d";
export const n30Days = "30 d";
export const last24Hours = "Last 24 hours";
export const timeRange = "Time range";
export const history = "History";
export const theNodeHasJustStarted = (part: Rich): Rich => ["The node has just started: ", part];
export const theFirstPointOfTheseCurves = (stepSecs: Value) =>
  `the first point of these curves arrives within ${stepSecs}.`;
export const theseCurvesBeginAt = (nextAtSecs: Value) => `these curves begin at ${nextAtSecs}.`;
export const noResponse = "No response:";
export const theNodeHasNotRespondedTo = "the node has not responded to the last request";
export const theFiguresBelowAreOld = (now: Rich): Rich => ["The figures below are ", now, " old. "];
export const thePageAsksAgainInS = (waitSecs: Value) => `Retrying in ${waitSecs} s.`;
export const thePageIsAsking = "Retrying.";
export const askNow = "Retry now";

// status/status.tsx
export const now = "Now";
export const theseAreItsLastFigures = "These are its last figures.";
export const itHasNoPeopleAndNo = "It has no people and no casts, and follows no other node.";
export const proveIt = (ready: Rich, command: Rich): Rich => [
  "Prove it: ",
  ready,
  " is 200 only while the state is proven, and ",
  command,
  " computes all of it again.",
];
export const upToDate = "Up to date.";
export const notTheNetworks = "not proven";
export const provenAt = (height: Value, shard: Value, ago: Value, quorum: Value) =>
  `Proven at height ${height} of shard ${shard}, ${ago} ago${quorum}.`;
export const against = (signers: Value, validators: Value) =>
  `, against ${signers} of ${validators} validators`;
export const blocksAreVerified = (quorum: Value) => `Each block is verified${quorum}.`;
export const stateIsComputed =
  "Its state is being computed, and then compared with the one that they signed.";
export const stateIsIncomplete =
  "It was filled person by person, which is not everything, so its whole state cannot be proven.";
export const stateIsUnproven =
  "Its state is unproven: no release has proven a whole state of this network, so the difference may be a rule this release does not know.";
export const nodeIsBelieved = "Unproven: the followed node is trusted, and its blocks are not verified.";
export const stateDiffers = (shard: Value, height: Value) =>
  `Shard ${shard} has differed from the state its validators signed since height ${height}.`;
export const whatToDoAboutAnotherState = (service: Value) =>
  `Accounts that differ are read again. If that does not help, “${service} verify --roots” names what this disk has lost.`;
export const validatorsAreUnknown = (shard: Value) =>
  `Shard ${shard} is signed by validators that this release does not know.`;
export const whatToDoAboutUnknownValidators = (service: Value) =>
  `Update ${service}, or set trust.validators_file.`;
export const validatorsForked = (shard: Value, height: Value) =>
  `Validators signed two blocks for height ${height} of shard ${shard}, which has stopped.`;
export const whatToDoAboutAFork =
  "Ask the operators of the network which one counts, then move the certificates out of “forks” in the data directory.";
export const accountsAreQuarantined = (accounts: Value) =>
  `Accounts that differ from the state that validators signed, and that no node could repair: ${accounts}.`;
export const whatToDoAboutQuarantinedAccounts =
  "The “trust” section of /status lists them. Add a node to upstream.urls; each is retried after a day.";
export const stateIsStale = (shard: Value, ago: Value) =>
  `No block of shard ${shard} has been proven for ${ago}.`;
export const whatToDoAboutAStaleProof =
  "The “trust” section of /status has the followed nodes and how many roots are still to be computed.";
export const behindTheNodeThatItFollows = (lagSecs: Rich): Rich => [
  " ",
  lagSecs,
  " behind the node it follows.",
];
export const demoNetwork = "demo network";
export const upVersion = (uptimeSecs: Rich, version: Rich, network: Rich): Rich => [
  "up ",
  uptimeSecs,
  " · version ",
  version,
  " · ",
  network,
];
export const requestsPerSecond = "Requests per second";
export const medianLatency = "Median latency";
export const p99Latency = "p99 latency";
export const messagesPerSecond = "Messages per second";
export const queues = "Queues";
export const what = "What";
export const programsReadTheSameFromAnd = (
  more: Rich,
  nodePath: Rich,
  nodePath2: Rich,
  nodePath3: Rich,
  more2: Rich,
): Rich => [more, "Programs read the same from ", nodePath, ", ", nodePath2, " and ", nodePath3, ". ", more2];
export const theFiguresAreThoseOfNode = (node: Value) =>
  `These are the figures of node ${node} since it started. `;
export const doYouRunThisNodeAre = (link: Rich): Rich => [
  "Do you run this node? ",
  link,
  " are on the operator's page.",
];
export const threadsLogSettingsAndBackups = "Threads, log, settings and backups";

/** Translated names of the node's limits, and messages about its backups. */
export const SAID: Readonly<Record<string, string>> = {};

/** Translated titles and labels that the node sends. Without a translation, they are shown in English. */
export const FIGURES: Readonly<Record<string, string>> = {};
