import { plural, type Rich, type Value } from "../format.ts";

export const time = "Timeline";
export const dragToLookAtAMoment = "Drag to select a period";
export const goTo = "Go to";
export const goToHint = "03:12 or 2 h ago";
/** Formats a time in a way that `typedTime` reads. */
export const asTyped = (text: string) => text;
export const noTime = "Enter a time such as 03:12, yesterday 14:00 or 2 h ago.";
export const show = "Show";
export const backToLive = "Back to live";
export const begin = "Start of the selection";
export const end = "End of the selection";
export const viewing = (from: Rich, to: Rich, what: Rich): Rich => ["Viewing ", from, " to ", to, what];
export const rangeText = (from: Value, to: Value, what: Value) => `${from} to ${to}${what}`;
export const incidents = "Incidents";
export const events = "Events";
export const deliveries = "Deliveries";
export const errors = "5xx";
export const warnings = "Warnings";
export const countEvents = (count: number) => plural(count, "event");
export const countFailed = (count: number) => plural(count, "failed delivery", "failed deliveries");
export const countWarnings = (count: number) => plural(count, "warning");
export const keysOfTheScrubber = "Arrows move an edge, Shift by ten; l for live, [ and ] for incidents.";
export const notWatched = "The node kept no history before this.";
export const notRecordedYet = "Not recorded yet.";
export const marks: Readonly<Record<string, string>> = {
  start: "Started",
  stop: "Stopped",
  crash: "Crashed",
  release: "New version",
  setting: "Settings changed",
  pause: "Paused",
  resume: "Resumed",
  backup: "Backup",
  backup_failed: "Backup failed",
};
export const markAt = (kind: Value, at: Value, detail: Value) =>
  `${kind} on ${at}${detail === "" ? "" : `: ${detail}`}`;
export const figuresOfThisTime = "History of this period";
export const node = "Node";
export const noFigures = "No figures for this period.";
export const gapWhy: Readonly<Record<string, string>> = {
  stopped: "the node was stopped",
  crashed: "the node had crashed",
  not_watched: "the node kept no history",
  not_kept: "they are no longer kept",
  no_figures: "the node recorded none",
};
export const gap = (from: Rich, to: Rich, why: Rich): Rich => [
  "No figures from ",
  from,
  " to ",
  to,
  ": ",
  why,
  ".",
];

// moment/log.tsx
export const log = "Log";
export const words = "Words";
export const level = "Level";
export const levels = { info: "Info and above", warn: "Warnings and errors", error: "Errors" } as const;
export const noLines = "No lines in this period have all these words.";
export const older = "Show older lines";
export const searchGoesOn = "The search took too long and stopped here.";

// status/since.tsx
export const sinceYouWereHere = "Since you were here";
export const markAsSeen = "Mark as seen";
export const ago = (time: Value) => `${time} ago`;
const secsText = (
  args: Readonly<Record<string, string | number>>,
  format: (secs: number) => string,
  key = "secs",
) => format(Number(args[key] ?? 0));
type Words = (args: Readonly<Record<string, string | number>>, secs: (secs: number) => string) => string;
export const lines: Readonly<Record<string, Words>> = {
  incident_open: (args, secs) => `${args.title}: open for ${secsText(args, secs)}.`,
  incident_resolved: (args, secs) => `${args.title}: resolved after ${secsText(args, secs)}.`,
  crashed: () => "The node crashed and started again.",
  restarted: ({ count }) => (count === 1 ? "The node restarted." : `The node restarted ${count} times.`),
  upgraded: ({ before, after }) => `Upgraded from ${before} to ${after}.`,
  deliveries_failed: ({ count }) =>
    count === 1 ? "One delivery failed for good." : `${count} deliveries failed for good.`,
  errors: ({ count }) =>
    count === 1 ? "One request failed with 5xx." : `${count} requests failed with 5xx.`,
  backup: (args, secs) => `Last backup ${secsText(args, secs)} ago.`,
  disk_days: ({ days }) => `The disk will be full in ${days === 1 ? "one day" : `${days} days`}.`,
  quiet: (args, secs) =>
    [
      `Nothing happened in ${secsText(args, secs)}.`,
      args.backup_secs === undefined ? "" : ` Last backup ${secsText(args, secs, "backup_secs")} ago.`,
      args.disk_days === undefined ? "" : ` The disk lasts ${args.disk_days} days.`,
    ].join(""),
};
