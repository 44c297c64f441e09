import type { Rich, Value } from "../../format.ts";

export const title = "Einstellungen";
export const settingsInForce = "Geltende Einstellungen";
export const status = "Status";
export const operator = "Betrieb";
export const findASetting = "Einstellung finden";
export const theOnesThatAreSet = (count: Value, all: Value) =>
  `${count} von ${all} sind gesetzt, die übrigen haben ihren Standard. Geheimnisse sind verdeckt.`;
export const foundOfAll = (count: Value, all: Value) => `${count} von ${all}`;
export const noneFound = "Keine Einstellung hat diese Wörter im Namen, in der Bedeutung oder in der Quelle.";
export const changedOnly = "Nur gesetzte";
export const setting = "Einstellung";
export const value = "Wert";
export const takesEffect = "Gilt";
export const source = "Quelle";
export const actions = "Aktionen";
export const meaning = "Bedeutung";
export const byDefault = (value: Rich): Rich => ["Standard ", value];
export const ofDefault = "Standard";
export const atNextStart = (value: Rich): Rich => [", ab dem nächsten Start ", value];
export const APPLY = {
  now: "sofort",
  start: "ab dem nächsten Start",
  file: "ab dem nächsten Start, aus der Datei",
} as const;
export const lockedBy = (source: string) =>
  `ab dem nächsten Start: Die ${source.startsWith("-") ? "Option" : "Umgebungsvariable"} ${source.replace("file of ", "")} hat Vorrang vor dieser Seite und der Datei`;
export const whatCounts = (file: Rich): Rich => [
  "Was hier geändert wird, steht danach in ",
  file,
  ". Das hat Vorrang vor der Einstellungsdatei; Umgebungsvariablen und Befehlszeilenoptionen haben Vorrang davor.",
];
export const ofThisNode =
  "Andere Knoten dieses Zustands haben eigene Einstellungen: Ändere sie auf jedem Knoten.";
export const lineOfTheFile = (file: Rich): Rich => [
  "Sie lässt sich hier nicht ändern. Trage dies in ",
  file,
  " ein und starte den Knoten neu:",
];
export const theSettingsFile = "eine Einstellungsdatei";
export const change = "Ändern";
export const save = "Speichern";
export const cancel = "Abbrechen";
export const takeBack = "Zurücksetzen";
export const undo = "Rückgängig";
export const newValue = (key: Value) => `Neuer Wert von ${key}`;
export const oneALine = "Einer je Zeile";
export const mustBe = (rule: Value) => `Erlaubt: ${rule}.`;
export const whatChanges = (file: Rich): Rich => ["Ändert ", file, ":"];
export const inForce = (keys: Value) => `${keys} geändert. Es gilt jetzt.`;
export const inForceSoon = (keys: Value, threads: Value) =>
  `${keys} geändert. Beschäftigte Threads übernehmen es, sobald sie antworten: ${threads}.`;
export const waitsForStart = (keys: Value) => `${keys} geändert. Es gilt ab dem nächsten Start.`;
export const startedWithout = (keys: Value) =>
  `Mit diesen Änderungen startete der Knoten nicht, er läuft ohne sie: ${keys}.`;
export const refusedFile = (file: Rich): Rich => [
  "Sie stehen jetzt in ",
  file,
  ". Ändere sie hier erneut, sobald der Grund behoben ist.",
];
export const startIsDue = (keys: Value) => `Wartet auf den nächsten Start: ${keys}.`;
export const restart = "Knoten neu starten";
export const restartEnds =
  "Laufende Anfragen werden vorher beendet. Danach braucht diese Seite einen neuen Link, den der Befehl ausgibt.";
export const restarts = "Der Knoten startet neu.";
