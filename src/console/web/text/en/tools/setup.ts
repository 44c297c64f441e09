import { formatCount, type Rich, type Value } from "../../format.ts";

// setup/setup-page.tsx
export const setUpYourNode = "Set up your node";
export const notSetUpYet = "This node is not set up yet";
export const onlyTheOperatorSetsItUp =
  "Only its operator can set it up. On the node's machine, this command prints a link that opens this page once:";
export const itDidNotOpen = "It did not open:";
export const yourBrowserSignsOnlyOn = (command: Rich): Rich => [
  "Your browser only signs requests over https or on this machine. Forward the port, and open the link there: ",
  command,
];
export const theNodeHasData = "This node is set up";
export const seeItsSettings = (link: Rich): Rich => ["To change what it follows, see ", link, "."];
export const orFeedIt = (link: Rich): Rich => [
  "A node that takes messages over gRPC needs no set-up. You may leave this page for ",
  link,
  ".",
];
export const theOperatorsPage = "the operator's page";
export const theNodeStartsAgain = "The node starts again with its settings. This takes a few seconds.";
export const itRunsAndIsEmpty =
  "The node runs again. What it has appears here; if nothing does, its log says what it refused.";
export const itImports = (percent: Value) => `It is importing the file: ${percent} %`;
export const itBuilds = (percent: Value) => `It has read the file and is building the index: ${percent} %`;
export const itOpensItsIndex = "It has the data and is opening its index. This takes a few seconds.";
export const starting = "Starting";
export const importing = "Importing";
export const building = "Building";
export const itStarts = "It is starting";
export const itFills = "It is filling its index";
export const peopleAreHere = (count: Value) => `${count} people are here already.`;
export const firstQuery = "Run a first query";
export const explore = "Explore what is here";
export const itIsReady = "The node is up to date.";
export const recordsWereRefused = (count: number) =>
  count === 1
    ? "1 record of the file was refused:"
    : `${formatCount(count)} records of the file were refused:`;

// setup/wish-form.tsx
export const whatShouldItBe = "Source";
export const followANode = "Follow a node";
export const itCopiesAndFollows = "Copies what a Farcaster node has, then follows it block by block.";
export const demo = "Demo network";
export const aSmallNetwork = "200 people with public keys, ready in seconds, to try everything out.";
export const importAFile = "Import a file";
export const itReadsRecords = "Reads the records of a file once, and follows no other node.";
export const fileOfRecords = "File of records";
export const onTheMachineOfTheNode = "Its full path on the node's machine: the node reads it.";
export const anAbsolutePath = "A path such as /data/file.";
export const fileOfFids = "A file of fids";
export const pathOfFids = "Path of the file of fids";
export const nodeToFollow = "Node to follow";
export const hostAndPort = "Host and gRPC port, such as node.example:3383. Fallback nodes after a space.";
export const whoseData = "Scope";
export const everyone = "The whole network";
export const someFids = "These fids";
export const channel = "The authors of a channel";
export const followers = "A person and their followers";
export const fidsSeparated = "Fids, separated by spaces or commas";
export const channelName = "Name of the channel, or its parent URL";
export const fidOfThePerson = "Fid of the person";
export const required = "Required.";
export const fidsAreNumbers = "Fids are numbers such as 3.";
export const aHostAndPort = "A host with its port.";
export const testTheNode = "Test the node";
export const estimate = "Estimate";
export const checkEverything = "Check everything";
export const apply = "Write and start";
export const startTheDemo = "Start the demo network";
export const checksFirst = "Checks and start";
export const theChangeIsShownFirst =
  "“Check everything” runs the doctor and shows what will be written. Nothing is written before you say so.";
export const working = (step: Value, secs: Value) => `${step}: ${secs} s`;
export const whatItCosts = "What it costs";
export const findings = "Findings";
export const itWillWrite = (path: Rich): Rich => ["It will write ", path, ":"];
export const itGoesIntoTheDataDirectory = (why: Rich): Rich => [
  why,
  ". The settings go into the data directory and override the settings file.",
];
export const noSettingsAreWritten = "No settings need to be written.";
export const ok = "ok";
export const warning = "warning";
export const failed = "failed";

// setup/further-settings.tsx
export const publicUrlAndBackups = "Public URL and backups (optional)";
export const publicUrl = "Public URL";
export const publicUrlHint =
  "Where users reach this node, such as https://node.example. Links and signed pages use it.";
export const anHttpUrl = "An http or https URL without a query.";
export const backupDirectory = "Directory of backups";
export const backupDirectoryHint = "On this machine, preferably on another disk. Empty: no backups.";
export const backupTime = "Daily backup at (UTC)";
export const backupTimeHint = "Such as 03:15. Empty: only when you ask for one.";
export const aDirectoryFirst = "Name a directory first.";
export const aTimeOfDay = "A time such as 03:15.";
