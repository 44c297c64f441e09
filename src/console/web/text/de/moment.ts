import { plural, type Rich, saidIn, type Value } from "../format.ts";
import { TITLES } from "./incidents.ts";

export const time = "Zeitverlauf";
export const dragToLookAtAMoment = "Ziehen, um einen Zeitraum auszuwählen";
export const goTo = "Gehe zu";
export const goToHint = "03:12 oder vor 2 h";
const WORDS: Readonly<Record<string, string>> = { gestern: "yesterday", heute: "today" };
export const asTyped = (text: string) =>
  text
    .trim()
    .toLowerCase()
    .replace(/^vor\s+/, "")
    .replace(/^(gestern|heute)(?:\s+um)?\b/, (_, word: string) => WORDS[word] ?? word)
    .replace(/\s*uhr$/, "")
    .replace(
      /^(\d+)\s*(sekunde|minute|stunde|tag)(?:e?n)?$/,
      (_, count: string, unit: string) =>
        `${count} ${{ sekunde: "s", minute: "min", stunde: "h", tag: "d" }[unit]}`,
    );
export const noTime = "Gib eine Zeit wie 03:12, gestern 14:00 oder vor 2 h ein.";
export const show = "Anzeigen";
export const backToLive = "Zurück zu live";
export const begin = "Anfang der Auswahl";
export const end = "Ende der Auswahl";
export const viewing = (from: Rich, to: Rich, what: Rich): Rich => ["Ansicht von ", from, " bis ", to, what];
export const rangeText = (from: Value, to: Value, what: Value) => `${from} bis ${to}${what}`;
export const incidents = "Vorfälle";
export const events = "Ereignisse";
export const deliveries = "Zustellungen";
export const errors = "5xx";
export const warnings = "Warnungen";
export const countEvents = (count: number) => plural(count, "Ereignis", "Ereignisse");
export const countFailed = (count: number) =>
  plural(count, "fehlgeschlagene Zustellung", "fehlgeschlagene Zustellungen");
export const countWarnings = (count: number) => plural(count, "Warnung", "Warnungen");
export const keysOfTheScrubber =
  "Pfeiltasten bewegen eine Kante, mit Umschalt um zehn; l für live, [ und ] für Vorfälle.";
export const notWatched = "Davor hat der Knoten keinen Verlauf aufgezeichnet.";
export const notRecordedYet = "Noch nicht aufgezeichnet.";
export const marks: Readonly<Record<string, string>> = {
  start: "Gestartet",
  stop: "Gestoppt",
  crash: "Abgestürzt",
  release: "Neue Version",
  setting: "Einstellungen geändert",
  pause: "Angehalten",
  resume: "Fortgesetzt",
  backup: "Sicherung",
  backup_failed: "Sicherung fehlgeschlagen",
};
export const markAt = (kind: Value, at: Value, detail: Value) =>
  `${kind} am ${at}${detail === "" ? "" : `: ${detail}`}`;
export const figuresOfThisTime = "Verlauf dieses Zeitraums";
export const node = "Knoten";
export const noFigures = "Für diesen Zeitraum gibt es keine Werte.";
export const gapWhy: Readonly<Record<string, string>> = {
  stopped: "der Knoten war gestoppt",
  crashed: "der Knoten war abgestürzt",
  not_watched: "der Knoten hat keinen Verlauf aufgezeichnet",
  not_kept: "sie werden nicht mehr aufbewahrt",
  no_figures: "der Knoten hat keine erfasst",
};
export const gap = (from: Rich, to: Rich, why: Rich): Rich => [
  "Keine Werte von ",
  from,
  " bis ",
  to,
  ": ",
  why,
  ".",
];

export const log = "Protokoll";
export const words = "Wörter";
export const level = "Stufe";
export const levels = { info: "Info und höher", warn: "Warnungen und Fehler", error: "Fehler" } as const;
export const noLines = "Keine Zeile dieses Zeitraums enthält alle diese Wörter.";
export const older = "Ältere Zeilen anzeigen";
export const searchGoesOn = "Die Suche hat lange gedauert und hier aufgehört.";

export const sinceYouWereHere = "Seit deinem letzten Besuch";
export const markAsSeen = "Als gesehen markieren";
export const ago = (time: Value) => `vor ${time}`;
const secsText = (
  args: Readonly<Record<string, string | number>>,
  format: (secs: number) => string,
  key = "secs",
) => format(Number(args[key] ?? 0));
type Words = (args: Readonly<Record<string, string | number>>, secs: (secs: number) => string) => string;
export const lines: Readonly<Record<string, Words>> = {
  incident_open: (args, secs) => `${saidIn(TITLES, String(args.title))}: offen seit ${secsText(args, secs)}.`,
  incident_resolved: (args, secs) =>
    `${saidIn(TITLES, String(args.title))}: nach ${secsText(args, secs)} behoben.`,
  crashed: () => "Der Knoten ist abgestürzt und neu gestartet.",
  restarted: ({ count }) =>
    count === 1 ? "Der Knoten ist neu gestartet." : `Der Knoten ist ${count}-mal neu gestartet.`,
  upgraded: ({ before, after }) => `Aktualisiert von ${before} auf ${after}.`,
  deliveries_failed: ({ count }) =>
    count === 1
      ? "Eine Zustellung ist endgültig fehlgeschlagen."
      : `${count} Zustellungen sind endgültig fehlgeschlagen.`,
  errors: ({ count }) =>
    count === 1 ? "Eine Anfrage endete mit 5xx." : `${count} Anfragen endeten mit 5xx.`,
  backup: (args, secs) => `Letzte Sicherung vor ${secsText(args, secs)}.`,
  disk_days: ({ days }) => `Die Festplatte ist in ${days === 1 ? "einem Tag" : `${days} Tagen`} voll.`,
  quiet: (args, secs) =>
    [
      `In ${secsText(args, secs)} ist nichts geschehen.`,
      args.backup_secs === undefined ? "" : ` Letzte Sicherung vor ${secsText(args, secs, "backup_secs")}.`,
      args.disk_days === undefined ? "" : ` Die Festplatte reicht für ${args.disk_days} Tage.`,
    ].join(""),
};
