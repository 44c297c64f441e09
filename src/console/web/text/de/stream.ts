import type { Rich, Value } from "../format.ts";
import { plural } from "../format.ts";

export const filterGroups = {
  Who: "Wer",
  Content: "Inhalt",
  Where: "Wo",
  Quotes: "Zitiert",
  Target: "Ziel",
  Channels: "Kanäle",
} as const;
export const allMustMatch = "alle müssen zutreffen";
export const anyMayMatch = "einer muss zutreffen";
export const fidsOrNamesWithSpacesBetween = "fids oder @namen, durch Leerzeichen getrennt.";
export const n0xAnd40HexDigits = "0x und 40 Hexziffern.";
export const oneOrMoreWithSpacesBetween = "Eine oder mehrere, durch Leerzeichen getrennt.";
export const idsOfChannelsWithSpacesBetween = "Kanal-Kennungen, durch Leerzeichen getrennt.";
export const aRegularExpressionRe2FoundAnywhere =
  "Ein regulärer Ausdruck (RE2), irgendwo im Text; (?i) ignoriert Groß- und Kleinschreibung.";
export const kindsOfEvents = "Arten von Ereignissen";
export const withNoneTickedYouSeeEvery =
  "Ist keine angekreuzt, siehst du jede Art, für die die Filter unten gelten.";
export const whenThereAreSeveralFilters = "Bei mehreren Filtern";
export const showThese = "Diese zeigen";
export const showAll = "Alle zeigen";
export const isNotANameThatThis = (text: Value) => `${text} ist kein Name, den dieser Knoten kennt`;

export const author = "Autor";
export const butNotTheCastsOf = "Außer Casts von";
export const butNoEventsOf = "Außer Ereignissen von";
export const leastScoreOfTheAuthor = "Mindestwert des Autors";
export const aNumberFrom0To1OnNodes =
  "Von 0 bis 1, auf Knoten, deren Betreiber Bewertungen entscheiden lässt";
export const isNotAScore = (value: string) => `${value} ist keine Zahl von 0 bis 1`;
export const mentions = "Erwähnungen";
export const textRe2 = "Text (RE2)";
export const embeddedUrlRe2 = "Eingebettete URL (RE2)";
export const parentUrl = "Übergeordnete URL";
export const parentUrlOfTheThread = "Übergeordnete URL des Threads";
export const repliesToCasts = "Antwortet auf Casts";
export const repliesToPeople = "Antwortet Personen";
export const quotesCasts = "Zitiert Casts";
export const quotesPeople = "Zitiert Personen";
export const followsOrReactsToPeople = "Folgt Personen oder reagiert auf sie";
export const reactsToCasts = "Reagiert auf Casts";
export const changesOfChannels = "Änderungen von Kanälen";
export const concernsPeople = "Änderungen, die Personen betreffen";
export const isNotAnFidOrName = (value: Value) => `${value} ist weder fid noch @name`;
export const isNot0xAnd40Hex = (value: Value) => `${value} ist nicht 0x mit 40 Hexziffern`;
export const allEvents = "Alle Ereignisse";
export const filteredBy = (kinds: Value, fields: Value) => `${kinds}, gefiltert nach ${fields}`;

export const pause = "Anhalten";
export const resume = "Fortsetzen";
export const stream = "Stream";
export const ofThisTime = "Aus diesem Zeitraum";
export const noEventsOfThisTime = "Kein Ereignis dieses Zeitraums passt, oder der Knoten hat sie nicht mehr.";
export const partsOfThisTime = "Teile dieses Zeitraums";
export const fromToOf = (first: Value, last: Value, all: Value) => `${first} bis ${last} von ${all}`;
export const onlyTheLastOfThisTime = (count: Value, all: Value) =>
  `Hier sind die letzten ${count} von etwa ${all} Ereignissen, oder die davon, die passen. Für frühere wähle einen kürzeren Zeitraum.`;
export const older = "Älter";
export const newer = "Neuer";
export const makeThisAWebhook = "Daraus einen Webhook machen";
export const countNewEvents = (count: number) => plural(count, "neues Ereignis", "neue Ereignisse");
export const filter = (part: Rich): Rich => ["Filter ", part];
export const events = "Ereignisse";
export const inTheLastMinute = (perMinute: Value) => `${perMinute} in der letzten Minute`;
export const aDemoNetworkIsIdleUntil = "Ein Demo-Netz ruht, bis du etwas auslöst.";
export const eventsAreMissingHereTheNode = (gapAtMs: Rich): Rich => [
  "Hier fehlen Ereignisse: Der Knoten hat sie nicht mehr. ",
  gapAtMs,
];
export const thePageKeepsTheLast = (maxRows: Rich): Rich => [
  "Die Seite behält die letzten ",
  maxRows,
  " Ereignisse.",
];
export const paused = "Angehalten";
export const connected = "Verbunden";
export const notConnected = "Nicht verbunden";
export const connecting = "Verbindet";
export const pausedContinueAndItResumesAfter =
  "Angehalten. „Fortsetzen“ beginnt nach dem letzten Ereignis, das du siehst: Du verpasst nichts.";
export const connectedTheNextEventAppearsHere = (more: Rich): Rich => [
  "Verbunden. ",
  more,
  "Das nächste Ereignis erscheint hier, sobald es geschieht.",
];
export const noneOfTheLastEventsMatches = (maxRows: Value) =>
  `Keines der letzten ${maxRows} Ereignisse passt. `;
export const connectedLastEventAgo = (atMs: Rich): Rich => ["Verbunden, letztes Ereignis vor ", atMs, "."];
