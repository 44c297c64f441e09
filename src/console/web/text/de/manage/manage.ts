import type { Rich, Value } from "../../format.ts";
import { plural } from "../../format.ts";

export const requiresOneWalletSignature = "Erfordert eine Wallet-Signatur.";
export const deleted = "Gelöscht";
export const iHaveStoredIt = "Ich habe es gespeichert";
export const inUse = "in Gebrauch";
export const beingReplaced = "wird ersetzt";
export const created = (time: Rich, more: Rich): Rich => ["erstellt ", time, more];
export const expires = (time: Rich): Rich => [", läuft ab ", time];
export const copySecret = "Geheimnis kopieren";
export const hmacSha512Key = "HMAC-SHA512-Schlüssel";
export const standardWebhooks = "Standard Webhooks";
export const copyAsWhsec = "Als whsec kopieren";
export const secrets = "Geheimnisse";
export const theSecretsAreShownUntilYou = "Die Geheimnisse sind zu sehen, bis du die Seite verlässt.";
export const reveal = "Anzeigen";
export const newSecretCreated = "Neues Geheimnis erstellt.";
export const rotate = "Erneuern";

export const aMiniAppWasRegistered = "Eine Mini-App wurde registriert";
export const aMiniAppWasChanged = "Eine Mini-App wurde geändert";
export const aMiniAppWasDeleted = "Eine Mini-App wurde gelöscht";
export const aMiniAppGotANew = "Eine Mini-App hat ein neues Sendegeheimnis";
export const aWebhookWasCreated = "Ein Webhook wurde erstellt";
export const aWebhookWasChanged = "Ein Webhook wurde geändert";
export const aWebhookWasDeleted = "Ein Webhook wurde gelöscht";
export const aWebhookGotANewSecret = "Ein Webhook hat ein neues Geheimnis";
export const anApiKeyWasCreated = "Ein API-Schlüssel wurde erstellt";
export const anApiKeyWasChanged = "Ein API-Schlüssel wurde geändert";
export const anApiKeyWasDeleted = "Ein API-Schlüssel wurde gelöscht";
export const anApiKeyGotANew = "Ein API-Schlüssel hat ein neues Geheimnis";
export const aSessionWasStarted = "Eine Sitzung wurde gestartet";
export const aSessionWasEnded = "Eine Sitzung wurde beendet";
export const aSignerWasCreated = "Ein Signierer wurde erstellt";
export const aUserWasAskedToApprove = "Jemand wurde gebeten, einen Signierer zu bestätigen";
export const aUserApprovedASigner = "Jemand hat einen Signierer bestätigt";
export const aSignerWasImported = "Ein Signierer wurde importiert";
export const thePrivateKeyOfASigner = "Der private Schlüssel eines Signierers wurde gezeigt";
export const aSignerWasErased = "Ein Signierer wurde gelöscht";
export const aMessageWasSigned = (value: Value) => `Eine Nachricht wurde signiert: ${value}`;
export const endASession = "Sitzung beenden";
export const theSessionEndsAtOnceOn = (label: Value) =>
  `Die Sitzung „${label}“ endet sofort, auf jedem Knoten. Wer sie benutzt, muss neu signieren.`;
export const endAllSessions = "Alle Sitzungen beenden";
export const everySessionOfYourFidEnds = "Jede Sitzung deiner fid endet sofort, auch die dieses Browsers.";
export const thisBrowser = "dieser Browser";
export const canOnStartedEnds = (
  part: Rich,
  name: Rich,
  time: Rich,
  part2: Rich,
  more: Rich,
  expiresAt: Rich,
): Rich => ["Darf ", part, ", auf ", name, ". Gestartet ", time, part2, more, ", endet ", expiresAt, "."];
export const read = "lesen";
export const readTestReplayEnableAndDisable = "lesen, testen, wiederholen und Webhooks ein- und ausschalten";
export const notUsedYet = ", noch nicht benutzt";
export const lastUsed = ", zuletzt benutzt ";
export const end = (part: Rich): Rich => ["Beenden", part];
export const theSession = (label: Rich): Rich => [": Sitzung ", label];
export const sessions = "Sitzungen";
export const endAll = "Alle beenden";
export const noSessionsYourWalletSignsEvery = "Keine Sitzungen. Deine Wallet signiert jede Anfrage.";
export const key = (apiKeyId: Value) => `Schlüssel ${apiKeyId}`;
export const signer = (value: Value) => `Signierer ${value}`;
export const forFid = (fid: Value) => `für fid ${fid}`;
export const message = (hash: Value) => `Nachricht ${hash}`;
export const refused = (value: Rich): Rich => ["abgelehnt: ", value];
export const fromRequest = (address: Rich, requestId: Rich): Rich => [
  "von ",
  address,
  ", Anfrage ",
  requestId,
];
export const auditLog = "Änderungsprotokoll";
export const show = "Anzeigen";
export const everything = "alles";
export const miniAppsAndWebhooks = "Mini-Apps und Webhooks";
export const noEntriesYetHereYouWill = (part: Rich): Rich => [
  "Noch keine Einträge. Hier siehst du 400 Tage lang ",
  part,
  ".",
];
export const theChangesOfYourMiniApps = "die Änderungen deiner Mini-Apps und Webhooks";
export const theChangesOfYourHasSigned =
  "die Änderungen deiner Mini-Apps, Webhooks, API-Schlüssel, Signierer und Sitzungen und jede Nachricht, die ein Signierer von dir signiert hat";
export const theLogHasChangesAndSigned = (link: Rich, link2: Rich): Rich => [
  "Das Protokoll enthält Änderungen und signierte Nachrichten der letzten 400 Tage. Kampagnen und Zustellungen stehen auf der Seite von ",
  link,
  " und ",
  link2,
  ".",
];
export const miniApp = "Mini-App";
export const webhook = "Webhook";
export const activity = "Aktivität";

export const readsEvenWhereTheNodeRequires = "Liest, auch wo der Knoten einen Schlüssel verlangt";
export const publishesSignedMessagesAndCasts =
  "Veröffentlicht signierte Nachrichten sowie Casts, Likes und Follows durch verwaltete Signierer";
export const createsManagedSignersAndHasUsers =
  "Erstellt verwaltete Signierer und lässt Personen sie bestätigen";
export const managesYourWebhooks = "Verwaltet deine Webhooks";
export const managesYourMiniApps = "Verwaltet deine Mini-Apps";
export const sendsNotificationsToTheUsersOf = "Sendet Benachrichtigungen an die Nutzer einer App";
export const bansAndMutesUsersInYourApp =
  "Sperrt Personen in deiner App und schaltet Personen für andere stumm";
export const name = "Name";
export const forYouWhereItIsUsed = "Für dich: wo er benutzt wird.";
export const description = "Beschreibung";
export const miniAppTitle = "Mini-App";
export const theIdOfTheMiniApp = "Die Kennung der Mini-App, für die er sendet; leer für deine einzige.";
export const lastDay = "Läuft ab am";
export const emptyNeverExpires = "Leer: läuft nie ab.";
export const unitsPerMinute = "Einheiten pro Minute";
export const readUnitsEmptyTheNodesLimit = "Leseeinheiten. Leer: die Grenze des Knotens.";
export const writesPerMinute = "Schreibvorgänge pro Minute";
export const messagesEmptyTheNodesLimit = "Nachrichten. Leer: die Grenze des Knotens.";
export const chooseAtLeastOne = "Wähle mindestens eines.";

export const never = "nie";
export const inDaysAtMostInA = (count: Value, usageDays: Value, top: Value) =>
  `${count} in ${usageDays} Tagen, höchstens ${top} an einem Tag`;
export const countRequests = (count: number) => plural(count, "Anfrage", "Anfragen");
export const requests = "Anfragen";
export const units = "Einheiten";
export const writes = "Schreibvorgänge";
export const errors = "Fehler";
export const limited = "Begrenzt";
export const route = "Route";
export const utcDay = "Tag (UTC)";
export const usageByRoute = "Nutzung nach Route";
export const byDay = "Nach Tag";
export const usageByDay = "Nutzung nach Tag";
export const prefix = "Anfang";
export const scopes = "Rechte";
export const limits = "Grenzen";
export const unitsAndWritesPerMinute = (unitsPerMinute: Value, writesPerMinute: Value) =>
  `${unitsPerMinute} Einheiten und ${writesPerMinute} Schreibvorgänge pro Minute`;
export const createdTitle = "Erstellt";
export const lastUsedTitle = "Zuletzt benutzt";
export const expiresTitle = "Läuft ab";
export const earlierSecret = "Früheres Geheimnis";
export const expiresAt = (time: Rich): Rich => ["läuft ab ", time];
export const newScopes = (scopes: Value) => ` Neue Rechte: ${scopes}.`;
export const changeTheApiKey = "API-Schlüssel ändern";
export const changesAtOnceAndKeepsIts = (name: Value, scopes: Value) =>
  `„${name}“ ändert sich sofort und behält sein Geheimnis.${scopes}`;
export const saved = "Gespeichert";
export const settings = "Einstellungen";
export const signAndSave = "Signieren und speichern";
export const stopsAtOnce = "gilt sofort nicht mehr";
export const worksForMoreHours = (graceSecs: Value) => `gilt noch ${graceSecs} Stunden`;
export const rotateTheSecret = "Geheimnis erneuern";
export const getsANewSecretWhichIs = (name: Value, end: Value) =>
  `„${name}“ bekommt ein neues Geheimnis, das einmal gezeigt wird. Das jetzige ${end}.`;
export const activateTheApiKey = "API-Schlüssel aktivieren";
export const isAcceptedAgainAndKeepsIts = (name: Value) =>
  `„${name}“ wird wieder angenommen und behält sein Geheimnis.`;
export const deleteTheApiKey = "API-Schlüssel löschen";
export const everyRequestWithIsRefusedFrom = (name: Value) =>
  `Jede Anfrage mit „${name}“ wird abgelehnt. Das lässt sich nicht rückgängig machen.`;
export const rotateOrDelete = "Erneuern oder löschen";
export const rotatingCreatesANewSecretDo =
  "Erneuern erzeugt ein neues Geheimnis: Tu das, wenn das jetzige bekannt geworden sein könnte, oder ab und zu. Mit einem Tag Frist kannst du das neue einsetzen, bevor das alte abläuft.";
export const rotateOldOneExpiresInA = "Erneuern, altes läuft in einem Tag ab";
export const rotateOldOneExpiresNow = "Erneuern, altes läuft jetzt ab";
export const activate = "Aktivieren";
export const deleteLabel = "Löschen";
export const apiKey = "API-Schlüssel";
export const usageLast30Days = "Nutzung, letzte 30 Tage";
export const notUsedInTheLast30 =
  "In den letzten 30 Tagen nicht benutzt. Anfragen mit einem Schlüssel erscheinen hier innerhalb von zehn Sekunden.";
export const apiKeys = "API-Schlüssel";

export const youHaveSeveralChooseOneOr =
  "Du hast mehrere: Wähle eine, sonst kann der Schlüssel nicht senden.";
export const yourOnlyApp = "deine einzige App";
export const thisNodeHasNone = ". Dieser Knoten hat keine";
export const state = "Status";
export const active = "aktiv";
export const notActive = "nicht aktiv";
export const copyTheKeyNow = "Kopiere den Schlüssel jetzt";
export const theNodeStoresOnlyAHash =
  "Der Knoten speichert nur einen Hash des Schlüssels und kann ihn nicht noch einmal zeigen.";
export const until = (expiresAt: Value) => `, bis ${expiresAt}`;
export const createAnApiKey = "API-Schlüssel erstellen";
export const aProgramWithTheKeyMay = (scopes: Value, end: Value) =>
  `Ein Programm mit dem Schlüssel darf für dich handeln: ${scopes}${end}. Der Schlüssel wird einmal gezeigt.`;
export const newKey = "Neuer Schlüssel";
export const signAndCreate = "Signieren und erstellen";
export const yourKeys = "Deine Schlüssel";
export const noApiKeysYetReadsNeed =
  "Noch keine API-Schlüssel. Lesen braucht auf den meisten Knoten keinen; ein Schlüssel ist für Programme, die schreiben oder mehr lesen.";

export const overview = "Überblick";
export const miniApps = "Mini-Apps";
export const webhooks = "Webhooks";
export const signers = "Signierer";
export const signIn = "Anmeldung";
export const manage = "Verwalten";

export const theirAudienceAndPushesToIt = "Ihre Reichweite und Push-Nachrichten.";
export const eventsAtYourServerAsThey = "Ereignisse auf deinem Server, sobald sie geschehen.";
export const forProgramsThatWriteOrThat = "Für Programme, die schreiben oder mehr lesen.";
export const keysThatLetYourAppsAct = "Schlüssel, mit denen deine Apps für Personen handeln.";
export const appsWhoseVisitorsSignInHere =
  "Apps, deren Besucher sich hier anmelden, und eine Seite zum Ausprobieren.";
export const whatChangedAndWhoIsSignedIn = "Was sich geändert hat, und die Sitzungen deiner fid.";
export const openIncidents = (count: number) => plural(count, "offener Vorfall", "offene Vorfälle");
export const signedInAs = "Angemeldet als";
export const userAndFid = (user: Rich, fid: Rich): Rich => [user, " · fid ", fid];
export const demoPerson = "Demo-Person";
export const signOut = "Abmelden";
export const thisBrowserForFidUntilSign = (part: Rich, fid: Rich, time: Rich): Rich => [
  "Dieser Browser ",
  part,
  " für fid ",
  fid,
  " bis ",
  time,
  ". „Abmelden“ beendet das hier und auf dem Knoten.",
];
export const reads = "liest";
export const readsTestsAndReplays = "liest, testet und wiederholt";
export const isNotOpenInThisBrowser = (walletName: Rich): Rich => [
  walletName,
  " ist in diesem Browser gerade nicht verfügbar. Lesen geht auch ohne.",
];
export const manageWhatIsYours = "Deine Apps und Schlüssel";
export const nothingHasChanged = "Es hat sich nichts geändert.";

export const notices = "Mitteilungen";
export const aChannelWasAdded = "Ein Kanal für Mitteilungen wurde hinzugefügt";
export const aChannelWasChanged = "Ein Kanal für Mitteilungen wurde geändert";
export const aChannelWasDeleted = "Ein Kanal für Mitteilungen wurde gelöscht";
export const aChannelWasTested = "Ein Kanal für Mitteilungen wurde getestet";
export const anIncidentWasAcknowledged = "Ein Vorfall wurde zur Kenntnis genommen";
export const aLoginClientWasRegistered = "Ein Anmelde-Client wurde registriert";
export const aLoginClientWasChanged = "Ein Anmelde-Client wurde geändert";
export const aLoginClientWasDeleted = "Ein Anmelde-Client wurde gelöscht";
export const aUserWasBanned = "Eine Person wurde gesperrt";
export const aBanWasLifted = "Eine Sperre wurde aufgehoben";
export const aUserWasMuted = "Eine Person wurde stummgeschaltet";
export const aMuteWasEnded = "Eine Stummschaltung wurde beendet";
export const whatHappensToYourRecords =
  "Was mit deinen Webhooks, Schlüsseln und Benachrichtigungen geschieht.";
