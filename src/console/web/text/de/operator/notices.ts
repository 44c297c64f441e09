import type { Rich, Value } from "../../format.ts";

export const pushIsOff =
  "Die Einstellung notify.push_hosts ist leer, deshalb sendet dieser Knoten nichts an Browser.";
export const pushNeedsHttps =
  "Browser zeigen Mitteilungen nur für Seiten auf https, localhost oder 127.0.0.1. Öffne die Seite unter ihrer https-Adresse.";
export const pushNeedsHomeScreen =
  "Ab iOS 16.4: Füge diese Seite dem Home-Bildschirm hinzu und öffne sie dort.";
export const pushIsMissing = "Dieser Browser unterstützt keine Push-Nachrichten.";
export const pushIsBlocked = "Mitteilungen dieser Seite sind in den Einstellungen des Browsers blockiert.";
export const pushServiceFailed = (reason: Value) =>
  `der Push-Dienst dieses Browsers ließ sich nicht nutzen: ${reason}`;

export const notices = "Mitteilungen";
export const whatNoticesAre =
  "Meldet, wenn ein Vorfall beginnt und wenn er behoben ist, einmal für alle Knoten, und alle vier Stunden, solange ihn niemand zur Kenntnis nimmt. Höchstens 20 Mitteilungen pro Stunde. Knoten und Browser brauchen das Internet.";
export const whatNoticesOfOwnersAre =
  "Meldet, wenn einer deiner Webhooks fehlschlägt oder abgeschaltet wird, ein API-Schlüssel oder ein Signierer bald abläuft oder eine geplante Benachrichtigung nicht gesendet wurde. Höchstens 20 Mitteilungen pro Stunde. Knoten und Browser brauchen das Internet.";
export const noChannels = "Noch keine Kanäle.";
export const channel = "Kanal";
export const goesTo = "Geht an";
export const from = "Ab";
export const lastCall = "Letzter Aufruf";
export const actions = "Aktionen";
export const browser = "Browser";
export const hook = "URL";
export const FROM = { critical: "Kritisch", warning: "Warnung und höher", notice: "Alle" } as const;
export const quietFor = (hours: Rich): Rich => [", ruhig ", hours];
export const taken = "zugestellt";
export const notTaken = "fehlgeschlagen";
export const sendATest = "Test senden";
export const edit = "Bearbeiten";
export const editChannel = (label: Rich): Rich => [label, " bearbeiten"];
export const save = "Speichern";
export const cancel = "Abbrechen";
export const changed = "Geändert.";
export const remove = "Entfernen";
export const theTestIsOnItsWay = "Der Test ist unterwegs.";
export const removed = "Entfernt.";
export const addAChannel = "Kanal hinzufügen";
export const name = "Name";
export const myPhone = "mein Handy";
export const severity = "Schweregrad";
export const kinds = (which: Value) => `Arten von Vorfällen: ${which}`;
export const allKinds = "alle";
export const someKinds = (chosen: Value, all: Value) => `${chosen} von ${all}`;
export const kindsHint = "Keine gewählt: alle.";
export const onlyKinds = (titles: Rich): Rich => [", nur ", titles];
export const quietHours = "Ruhezeit";
export const quietHoursHint = (zone: Value) =>
  `Etwa 22:00-07:00, in ${zone}. Kritische Mitteilungen kommen trotzdem.`;
export const notifyThisBrowser = "Diesen Browser benachrichtigen";
export const thisBrowserIsSubscribed = "Dieser Browser bekommt Mitteilungen.";
export const orCallAHook = "Oder eine URL aufrufen";
export const url = "URL";
export const kindOfHook = "Format";
export const PRESETS = {
  json: "JSON, signiert wie Webhooks",
  slack: "Slack",
  discord: "Discord",
  ntfy: "ntfy",
  telegram: "Telegram",
} as const;
export const chatId = "Chat-Kennung";
export const addHook = "URL hinzufügen";
export const theHookIsAdded = "Die URL wurde hinzugefügt.";
export const theSecretOfTheHook =
  "Das Geheimnis, mit dem ihre Signaturen geprüft werden. Es wird einmal gezeigt:";
export const nameItFirst = "Gib ihm zuerst einen Namen.";
export const aHookNeedsAUrl = "Gib eine URL ein.";

export const open = "Öffnen";
export const noIncidentsOfYours = "Keine Vorfälle.";
export const theNodeWillTell = (target: Value) =>
  `Der Knoten sendet Mitteilungen über deine Vorfälle an ${target}.`;
export const theChannelWillChange = (label: Value) => `Was ${label} bekommt, ändert sich.`;
export const theChannelGetsNothingMore = (label: Value) => `${label} bekommt keine Mitteilungen mehr.`;
export const theChannelGetsATest = (label: Value) => `${label} bekommt einen Test.`;
export const itsRemindersEnd = (title: Value) =>
  `An „${title}“ wird nicht mehr erinnert. Der Vorfall bleibt offen, bis er behoben ist.`;
export const itsRemindersHaveEnded = "An den Vorfall wird nicht mehr erinnert.";
