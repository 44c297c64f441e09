import type { Rich, Value } from "../../format.ts";
import { plural } from "../../format.ts";

export const remove = (plain: Value) => `${plain} entfernen`;
export const foundFor = (label: Value) => `Gefunden für ${label}`;
export const add = (plain: Value) => `${plain} hinzufügen`;
export const byNameHandleOrFid = "Nach Name, @name oder fid.";
export const fid = (value: Value) => `fid ${value}`;
export const aChannelByNameOrAny = "Ein Kanal nach Namen oder eine URL.";

export const waitsUntilTheWebhookIsEnabled = ", wartet, bis der Webhook eingeschaltet ist";
export const retryingNow = ", wird jetzt wiederholt";
export const nextAttempt = (time: Rich): Rich => [", nächster Versuch ", time];
export const test = "Test";
export const noAttemptYet = "noch kein Versuch";
export const countAttempts = (count: number) => plural(count, "Versuch", "Versuche");
export const state = "Status";
export const kind = "Art";
export const tests = "Tests";
export const theNodeRetriesTheFailedAnd =
  "Der Knoten wiederholt die fehlgeschlagenen und verworfenen Zustellungen der letzten 24 Stunden.";
export const nothingFailedInTheLast24 = "In den letzten 24 Stunden ist nichts fehlgeschlagen.";
export const isQueuedAgain = "Wieder in der Warteschlange.";
export const queuedAgain = (count: Value) => `${count} wieder in der Warteschlange.`;
export const countDeliveries = (count: number) => plural(count, "Zustellung", "Zustellungen");
export const deliveries = "Zustellungen";
export const find = "Finden";
export const findHint = "Kennung, fid, Hash oder Host";
export const noneOfThese = "Keine Zustellung passt.";
export const countWhatIsMissing = "Fehlendes zählen";
export const sendMissing = (deliveries: Value) => `${deliveries} senden`;
export const theNodeSendsWhatIsMissing =
  "Der Knoten sendet, was in dieser Zeit fehlgeschlagen ist, und Ereignisse, die der Webhook nie bekam.";
export const nothingIsMissing = "Aus dieser Zeit fehlt nichts.";
export const isSentInTheBackground = (deliveries: Value, more: boolean) =>
  `${more ? "Mindestens " : ""}${deliveries} werden im Hintergrund gesendet.`;
export const retryFailed = "Fehlgeschlagene wiederholen";
export const any = "alle";
export const onlyTests = "nur";
export const noTests = "keine";
export const noneAmongTheNewestThereMay =
  "Keine unter den neuesten Zustellungen. „Weitere laden“ zeigt ältere.";
export const noDeliveriesYetSendATest =
  "Noch keine Zustellungen. „Test senden“ stellt eine jeder Art in die Warteschlange.";
export const webhooks = "Webhooks";
export const webhook = "Webhook";
export const delivery = (messageId: Value) => `Zustellung ${messageId}`;
export const deliveryTitle = "Zustellung";
export const attempts = "Versuche";
export const isAttempted = (attempts: Value, span: Value) =>
  `Bis zu ${attempts} Versuche in ${span}, später, wenn der Empfänger darum bittet (webhooks.retry_max_attempts, retry_initial_backoff_ms). Eine fehlgeschlagene Zustellung bleibt 7 Tage und lässt sich noch einmal senden.`;
export const noAttemptYetSentence = "Noch kein Versuch.";
export const theRequest = "Die Anfrage";
export const headersOfTheRequest = "Header der Anfrage";
export const bodyOfTheRequest = "Body der Anfrage";
export const responseToAttempt = (number: Value) => `Antwort auf Versuch ${number}`;
export const theNodeSendsThisDeliveryAgain =
  "Der Knoten sendet diese Zustellung noch einmal, unter derselben Kennung.";
export const queued = (time: Rich, more: Rich): Rich => ["eingereiht ", time, more];
export const sendAgain = "Noch einmal senden";

export const idsOfRegisteredChannels = "Kennungen registrierter Kanäle, durch Leerzeichen getrennt.";
export const n0xAnd40HexDigitsWith = "0x und 40 Hexziffern, durch Leerzeichen getrennt.";
export const foundAnywhereIIgnoresCase = "Irgendwo im Text; (?i) ignoriert Groß- und Kleinschreibung.";
export const what = "Was";
export const ofTheseFilters = "Von diesen Filtern";
export const removeThisFilter = "Diesen Filter entfernen";
export const thisIsNotJsonYet = "Das ist noch kein JSON.";
export const theFormHasAProblemWhat = "Das Formular hat einen Fehler. Dieses JSON ersetzt es.";
export const changesHereChangeTheForm = "Änderungen hier ändern das Formular.";
export const subscriptionAsJson = "Abonnement als JSON";
export const filter = "Filter";
export const whichEvents = "Welche Ereignisse";
export const json = "JSON";
export const addAFilterForOtherKinds = "Filter für andere Arten hinzufügen";

export const chooseAtLeastOneKindOf = "Wähle mindestens eine Art von Ereignis";
export const isNotInTheFilterChoose = (text: Value) =>
  `„${text}“ ist nicht im Filter: Wähle einen Treffer oder leere das Feld`;
export const hasAnotherFilterAbove = (kind: Value) => `${kind} hat oben einen anderen Filter`;
export const hasNoSuchFilterClearIt = (foreign: Value, foreign2: Value) =>
  `${foreign} hat keinen solchen Filter: Leere ihn oder gib ${foreign2} einen eigenen`;
export const aSubscriptionIsAnObjectKinds =
  "Ein Abonnement ist ein Objekt: Arten von Ereignissen, jede mit ihrem Filter.";
export const isNotAKindOfEvent = (key: Value) => `${key} ist keine Art von Ereignis.`;
export const appearsTwice = (kind: Value) => `${kind} kommt zweimal vor.`;
export const aSubscriptionNamesAtLeastOne = "Ein Abonnement nennt mindestens eine Art von Ereignis.";
export const needsAnObjectForAllEvents = (kind: Value) =>
  `${kind} braucht ein Objekt, {} für alle Ereignisse der Art.`;
export const matchIsAllOrAny = (kind: Value) => `${kind}.match ist "all" oder "any".`;
export const isNotAFilterOf = (name: Value, kind: Value) => `${name} ist kein Filter von ${kind}.`;
export const isNotValid = (kind: Value, name: Value, value: Value) =>
  `${kind}.${name} ist ungültig: ${value}.`;
export const excludeIsAnObject = "„exclude“ ist ein Objekt mit „fids“ und „bans“.";
export const aNumberFrom0To1 = "eine Zahl von 0 bis 1";
export const aListOfFids = "eine Liste von fids";
export const aListOfCastHashes = "eine Liste von Cast-Hashes";
export const aListOfUrls = "eine Liste von URLs";
export const aListOfChannelIds = "eine Liste von Kanal-Kennungen";
export const anRe2ExpressionAsText = "ein RE2-Ausdruck als Text";

export const newCasts = "neue Casts";
export const deletedCasts = "gelöschte Casts";
export const newLikesAndRecasts = "neue Likes und Recasts";
export const removedLikesAndRecasts = "zurückgenommene Likes und Recasts";
export const newFollows = "neue Follows";
export const endedFollows = "beendete Follows";
export const newUsers = "neue Personen";
export const changedProfiles = "geänderte Profile";
export const newChannels = "neue Kanäle";
export const changedChannels = "geänderte Kanäle";
export const newMembers = "neue Mitglieder von Kanälen";
export const endedMemberships = "beendete Mitgliedschaften in Kanälen";
export const newBans = "neue Sperren in Kanälen";
export const endedBans = "beendete Sperren in Kanälen";
export const newModerators = "neue Moderatoren von Kanälen";
export const endedModerators = "Moderatoren, die wieder Mitglieder sind";
export const newPins = "neue angepinnte Casts in Kanälen";
export const endedPins = "gelöste angepinnte Casts in Kanälen";
export const newFollowsOfChannels = "neue Follows von Kanälen";
export const endedFollowsOfChannels = "beendete Follows von Kanälen";
export const moderatedCasts = "in Kanälen aus- oder wieder eingeblendete Casts";
export const by = "von";
export const thatMention = "mit Erwähnung von";
export const whoseTextMatches = "mit passendem Text:";
export const withAnEmbeddedUrlThatMatches = "mit passender eingebetteter URL:";
export const inLabel = "in";
export const inThreadsOf = "in Threads von";
export const inReplyTo = "als Antwort auf";
export const thatQuote = "mit Zitat von";
export const thatConcern = "betreffend";
export const of = "von";
export const fewOrNone = "wenige oder keine";
export const about = (count: Value, unit: Value) => `etwa ${count} ${unit}`;
export const perUnit = { minute: "pro Minute", hour: "pro Stunde", day: "pro Tag" } as const;
export const or = "oder";
export const and = "und";
export const howManyToExpectIsNot =
  "Noch keine Schätzung: „Ausprobieren“ zählt Treffer unter vergangenen Ereignissen.";
export const howManyToExpectThemAmong =
  "Keine Schätzung: Der Knoten hat keine vergangenen Ereignisse zum Zählen.";
export const expectOfTheLastEventsMatch = (bold: Rich, matched: Rich, scanned: Rich): Rich => [
  "Zu erwarten: ",
  bold,
  "; ",
  matched,
  " der letzten ",
  scanned,
  " Ereignisse passen.",
];
export const more = (more: Value) => `${more} weitere`;
export const withoutAFilter = (bold: Rich): Rich => [bold, ", ohne Filter."];
export const allOfTheNetwork = (joined: Rich): Rich => ["Alle ", joined, " des Netzes"];
export const butNotBy = (more: Rich, values: Rich): Rich => [more, "aber nicht von ", values];
export const theseEvents = "Diese Ereignisse:";
export const butNotOf = "Ausschließen";
export const users = "Personen";
export const usersThatYouBan = "Die Personen, die du sperrst";
export const aScoreFrom0To1OnNodes = "Von 0 bis 1, wo der Betreiber Bewertungen entscheiden lässt.";
export const ofAuthorsWithAScoreOf = (score: Value) =>
  `, von Autoren mit einer Bewertung von ${score} oder mehr`;
export const butNotOfListed = (listed: number, bans: boolean) =>
  `Außer Ereignissen von ${[
    ...(listed > 0 ? [listed === 1 ? "1 genannten Person" : `${listed} genannten Personen`] : []),
    ...(bans ? ["Personen, die du sperrst"] : []),
  ].join(" und ")}.`;

export const newWebhook = "Neuer Webhook";
export const createAWebhook = "Webhook erstellen";
export const theNodeWillSendEventsTo = (url: Value, fid: Value) =>
  `Der Knoten sendet ab jetzt Ereignisse für fid ${fid} an ${url}, signiert mit einem neuen Geheimnis.`;
export const webhookCreated = "Webhook erstellt.";
export const signAndCreate = "Signieren und erstellen";
export const webhookCreatedTitle = "Webhook erstellt";
export const copyItsSecretNow = "Kopiere sein Geheimnis jetzt";
export const yourReceiverVerifiesEachRequest =
  "Dein Empfänger prüft jede Anfrage damit. Diese Seite vergisst es, wenn du sie verlässt; „Anzeigen“ auf der Seite des Webhooks zeigt es wieder, für eine Signatur.";
export const openTheWebhook = "Webhook öffnen";

export const median = "Median";
export const failed = "fehlgeschlagen";
export const delivered = "zugestellt";
export const health = "Zustand";
export const settings = "Einstellungen";
export const n7Days = "7 Tage";
export const theNodeSendsEventsToThis = "Der Knoten sendet diesem Webhook wieder Ereignisse.";
export const deliveriesArePausedUntilYouRe =
  "Zustellungen sind angehalten, bis du diesen Webhook wieder einschaltest.";
export const webhookEnabled = "Webhook eingeschaltet.";
export const webhookDisabledQueuedDeliveries = "Webhook ausgeschaltet. Eingereihte Zustellungen warten.";
export const theNodeSendsAMadeUp =
  "Der Knoten sendet diesem Webhook ein erfundenes Ereignis jeder abonnierten Art.";
export const areQueued = (count: Value) => `${count} in der Warteschlange.`;
export const countTestEvents = (count: number) => plural(count, "Testereignis", "Testereignisse");
export const youDisabledItNothingIsSent =
  "Du hast ihn ausgeschaltet. Es wird nichts gesendet, und Ereignisse werden nicht eingereiht.";
export const theNodeDeactivatedIt = "Der Knoten hat ihn abgeschaltet";
export const noReasonIsKnown = "der Grund ist nicht bekannt";
export const enable = "Einschalten";
export const to = (keys: Rich, name: Rich): Rich => [keys, " an ", name];
export const sendATest = "Test senden";
export const disable = "Ausschalten";
export const facts = "Angaben";
export const lastSuccess = "Letzter Erfolg";
export const lastFailure = "Letzter Fehlschlag";
export const consecutiveFailures = "Fehlschläge in Folge";
export const theNodeDisablesItAfterA = (consecutiveFailures: Value) =>
  `${consecutiveFailures}; nach hundert an einem Tag schaltet der Knoten ihn ab`;
export const queuedTitle = "In der Warteschlange";
export const dropped = "Verworfen";
export const afterMoreThan15MinutesIn = (droppedDeliveries: Value) =>
  `${droppedDeliveries}, nach mehr als 15 Minuten in der Warteschlange`;
export const history = "Verlauf";
export const timeSpan = "Zeitraum";
export const responseTimeOfTheReceiver = "Antwortzeit des Empfängers";
export const noAttemptsInThisPeriodSend = "Keine Versuche in diesem Zeitraum. „Test senden“ erzeugt welche.";

export const author = "Autor";
export const theKindOfEvent = "die Art des Ereignisses";
export const everyFieldWhereAnyWouldDo = "jedes Feld, wo eines genügte";
export const excludedByField = (count: Value, field: Value) => `${count} ausgeschlossen durch „${field}“`;
export const byField = (count: Value, field: Value) => `${count} durch „${field}“`;
export const noneMatch = "Keines passt.";
export const n1Matches = "1 passt.";
export const theNodeHasNoEventsTo =
  "Der Knoten hat noch keine Ereignisse zum Ausprobieren. Ereignisse bleiben einen Tag.";
export const match = (matched: Value) => `${matched} passen.`;
export const theLastEventsTheOldest = (scanned: Rich, from: Rich): Rich => [
  " Die letzten ",
  scanned,
  " Ereignisse, das älteste ",
  from,
  ".",
];
export const samples = "Beispiele";
export const theBodiesAsYourReceiverGets = "Inhalte, wie dein Empfänger sie bekommt";
export const bodiesOfTheSamples = "Inhalte der Beispiele";
export const preview = "Vorschau";
export const previewOnPastEvents = "Vorschau an vergangenen Ereignissen";
export const tryAgain = "Erneut versuchen";
export const tryIt = "Ausprobieren";
export const theFilterIsNotCompleteWhat =
  "Der Filter ist unvollständig. Was fehlt, ist an seinem Feld markiert.";
export const tryingItNow = "Wird gerade ausprobiert.";
export const tryItShowsWhatItWould = "„Ausprobieren“ zeigt, was er erfasst hätte. Es wird nichts gesendet.";

export const receiver = "Empfänger";
export const nothingWasSentTheFilterHas =
  "Es wurde nichts gesendet: Der Filter hat einen Fehler, der an seinem Feld markiert ist.";
export const revealTheSecrets = "Geheimnisse anzeigen";
export const thisPageWillShowTheSecrets =
  "Diese Seite zeigt die Geheimnisse des Webhooks, bis du sie verlässt.";
export const rotateTheSecret = "Geheimnis erneuern";
export const theWebhookGetsANewSecret =
  "Der Webhook bekommt ein neues Geheimnis. Das jetzige signiert während der Frist mit, damit dein Empfänger ohne Lücke wechseln kann.";
export const deleteTheWebhook = "Webhook löschen";
export const theWebhookItsQueueAndIts =
  "Der Webhook, seine Warteschlange und seine Zustellungen werden gelöscht. Das lässt sich nicht rückgängig machen.";
export const deletingItEndsAllDeliveriesAlso = "Löschen beendet alle Zustellungen, auch eingereihte.";
export const changeTheWebhook = "Webhook ändern";
export const itsWillChangeForEventsFrom = (value: Value) => `${value} ändert sich, für Ereignisse ab jetzt.`;
export const nothingHasChanged = "Es hat sich nichts geändert.";
export const signAndSave = "Signieren und speichern";

export const url = "URL";
export const httpsOnAPublicHostIt =
  "https, auf einem öffentlichen Host. Sie bekommt ein POST für jedes Ereignis und antwortet innerhalb von 10 Sekunden mit 2xx.";
export const name = "Name";
export const forYouAtMost128Characters = "Für dich; höchstens 128 Zeichen.";
export const description = "Beschreibung";
export const optional = "Optional.";
export const noResponse = "keine Antwort";
export const yourWebhooks = "Deine Webhooks";
export const noWebhooksYetAWebhookSends = (link: Rich, more: Rich): Rich => [
  "Noch keine Webhooks. Ein Webhook sendet dir Ereignisse, sobald sie geschehen: ",
  link,
  " und sieh, was er erfasst hätte",
  more,
  ".",
];
export const buildAFilter = "baue einen Filter";
export const orStartFromWhatYouSee = (link: Rich): Rich => [
  ", oder beginne mit dem, was du siehst, in ",
  link,
];
export const theStream = "dem Stream";
export const countQueued = (queuedDeliveries: Value) => `${queuedDeliveries} in der Warteschlange`;
export const deactivated = "Abgeschaltet";
export const disabled = "Ausgeschaltet";
export const pausedByTheOperator = "Vom Betreiber angehalten";
export const failing = "Schlägt fehl";
export const waiting = "Wartet";
export const delivering = "Stellt zu";
export const deliveryStates = {
  queued: "wartend",
  delivered: "zugestellt",
  failed: "fehlgeschlagen",
  dropped: "verworfen",
} as const;
export const retrying = "neuer Versuch";
