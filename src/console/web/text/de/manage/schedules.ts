import type { Rich, Value } from "../../format.ts";
import { plural } from "../../format.ts";

export const scheduledSends = "Geplante Benachrichtigungen";
export const nothingIsScheduled = (link: Rich): Rich => ["Es ist nichts geplant. ", link, "."];
export const scheduleASend = "Benachrichtigung planen";
export const notification = "Benachrichtigung";
export const state = "Status";
export const when = "Wann";
export const cancel = "Absagen";
export const states = {
  due: "Geplant",
  sent: "Gesendet",
  held: "Zurückgehalten",
  missed: "Verpasst",
  cancelled: "Abgesagt",
} as const;
export const heldBecause = {
  custody_moved: "die fid gehört jetzt einer anderen Adresse",
  app_deleted: "die App wurde gelöscht",
  app_url_changed: "die App ist auf einen anderen Host umgezogen",
} as const;
export const sentOf = (sent: number, all: number) => `${sent} von ${plural(all, "Teil", "Teilen")} gesendet`;
export const onEachClock = (time: Value) => `${time} in der Ortszeit jeder Person`;
export const variants = (count: number) => plural(count, "Text", "Texte");
export const theNodeCancels = (title: Value) =>
  `Der Knoten sagt ab, was von „${title}“ noch nicht gesendet ist.`;
export const cancelled = "Abgesagt";

export const time = "Zeit";
export const now = "Jetzt";
export const atATime = "Zu einem Zeitpunkt";
export const onTheirClock = "Zu einem Zeitpunkt in der Ortszeit jeder Person";
export const inYourZone = (zone: Value) => `In deiner Zeitzone, ${zone}. Höchstens 30 Tage im Voraus.`;
export const onAQuarter = "Auf die Viertelstunde genau; muss in jeder Zeitzone noch bevorstehen.";
export const quietFrom = "Ruhe von";
export const quietTo = "Ruhe bis";
export const notBeforeTheEnd = "Sie bekommen sie nach der Ruhezeit.";
export const onQuarter = "Auf die Viertelstunde genau.";
export const timesMissing = "Beide Zeiten oder keine.";
export const aTimeAhead = "Ein künftiger Zeitpunkt, höchstens 30 Tage im Voraus.";
export const onAQuarterHour = "Auf die Viertelstunde genau, etwa 07:15.";
export const options = "Weitere Optionen";
export const secondTitle = "Zweiter Titel";
export const secondText = "Zweiter Text";
export const compareTwoTexts = "Zwei Fassungen vergleichen";
export const halfGetsIt = "Die Hälfte der Personen bekommt die zweite. Die Ergebnisse vergleichen beide.";
export const oneOfBothDiffers = "Gib ein, was anders ist: den Titel, den Text oder beides.";
export const countOpens = "Öffnungen zählen";
export const linksGetAParameter =
  "Links bekommen einen Parameter, der die Kampagne nennt, nie eine Person. Die App meldet ihn.";
export const segment = "Segment";
export const noSegment = "Alle";

export const drafts = "Entwürfe";
export const saveDraft = "Entwurf speichern";
export const draftSaved = "Entwurf gespeichert";
export const noDrafts = "Keine Entwürfe. Sie liegen auf dem Knoten, für jedes deiner Geräte.";
export const open = "Öffnen";
export const deleteIt = "Löschen";
export const untitled = "Ohne Titel";
export const theNodeStoresTheDraft = "Der Knoten speichert das als Entwurf. Es wird nichts gesendet.";
export const theNodeDeletesTheDraft = "Der Knoten löscht diesen Entwurf.";

export const segments = "Segmente";
export const newSegment = "Neues Segment";
export const saveSegment = "Segment speichern";
export const chooseAPerson = "Wähle eine Person.";
export const nameItFirst = "Gib ihm zuerst einen Namen.";
export const setACondition = "Gib mindestens eine Bedingung an.";
export const segmentSaved = "Segment gespeichert";
export const name = "Name";
export const conditions = "Bedingungen";
export const noSegments =
  "Keine Segmente. Ein Segment ist ein Filter mit einem Namen, den Benachrichtigungen benutzen.";
export const allConditionsHold =
  "Personen, auf die alle Bedingungen zutreffen. Lass weg, was keine Rolle spielt.";
export const addedAfter = "App hinzugefügt nach";
export const addedBefore = "App hinzugefügt bis";
export const following = "Follower von";
export const fidsOfPeople = "Ihre fids, durch Leerzeichen oder Kommas getrennt";
export const channel = "Mitglieder des Kanals";
export const channelId = "Seine Kennung, etwa bread";
export const openedWithin = "Geöffnet innerhalb von (Tage)";
export const notOpenedWithin = "Nichts geöffnet seit (Tage)";
export const days = "1 bis 30";
export const client = "In diesen Clients";
export const fidsOfClients = "Fids von Client-Apps";
export const people = "Aus diesen Personen";
export const theNodeStoresTheSegment = "Der Knoten speichert diesen Filter. Es wird nichts gesendet.";
export const theNodeDeletesTheSegment =
  "Der Knoten löscht diesen Filter. Geplante Benachrichtigungen behalten ihre Bedingungen.";
export const changedAt = "Geändert";
export const whoGotIt = "Wer sie bekam";
export const actions = "Aktionen";
export const editIt = "Bearbeiten";
export const editSegment = "Segment bearbeiten";
export const stopEditing = "Abbrechen";
export const scheduledSendsKeepIt =
  "Geplante Benachrichtigungen behalten die Bedingungen, mit denen sie signiert wurden.";
export const inZones = (zones: Value) => `In Zeitzonen: ${zones}`;
export const oneOfBoth = "Nur eines von beiden.";
export const atMost30 = "Höchstens 30.";

export const opens = "Öffnungen";
export const opened = "Geöffnet";
export const verified = "Geprüft";
export const goals = "Ziele";
export const medianMinutes = "Median in Minuten";
export const turnedOff = "In 24 h abgeschaltet";
export const results = "Ergebnisse";
export const parts = "Teile";
export const text = "Text";
export const winner = "Der beste Text";
export const scheduledSend = "Geplante Benachrichtigung";
export const noSuchSend = "Diese Benachrichtigung gibt es nicht. Geplante bleiben 30 Tage erhalten.";
export const opensByClient = "Öffnungen nach Client";
export const opensByText = "Öffnungen nach Text";
export const noClearDifference =
  "Noch kein klarer Unterschied. Entschieden wird ab 100 Öffnungen jedes Textes.";
export const isLikelyBetter = (title: Rich): Rich => [title, " ist wahrscheinlich besser (95 %)."];
export const clientApp = "Client";
export const delivered = "Zugestellt";
export const noOpensYet =
  "Noch keine Öffnungen. Die App meldet sie, wenn der Versand Öffnungen zählt; Clients melden nie, dass eine Benachrichtigung gesehen wurde.";
