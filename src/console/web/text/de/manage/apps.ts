import type { Rich, Value } from "../../format.ts";
import { plural } from "../../format.ts";

export const overview = "Überblick";
export const send = "Senden";
export const scheduled = "Geplant";
export const campaigns = "Kampagnen";
export const segments = "Segmente";
export const secrets = "Geheimnisse";
export const settings = "Einstellungen";
export const inYourManifest = "In deinem Manifest";
export const addThisLineToTheObject = (code: Rich, code2: Rich): Rich => [
  "Füge diese Zeile auf deiner Website in das Objekt ",
  code,
  " von ",
  code2,
  " ein. Clients melden diesem Knoten dann, wer die App hinzugefügt hat.",
];
export const clients = "Clients";
export const aServerOfYoursSendsWith = (code: Rich): Rich => [
  "Dein Server sendet mit einem davon, im Header ",
  code,
  ". Jede Schaltfläche erfordert eine Wallet-Signatur.",
];
export const saved = "Gespeichert";
export const signAndSave = "Signieren und speichern";
export const itsTokensCampaignsAndSecretsAre =
  "Ihre Tokens, Kampagnen und Geheimnisse werden mit ihr gelöscht. Alle müssen die App neu hinzufügen.";
export const theApp = "Die App";
export const miniApp = "Mini-App";
export const miniApps = "Mini-Apps";

export const manifest = "Manifest";
export const checkTheManifest = "Manifest prüfen";
export const theNodeReadsTheManifestOf = (domain: Value) =>
  `Der Knoten liest das Manifest von ${domain} und sagt, was Clients ablehnen werden.`;
export const thisAppHasNotSentYet =
  "Diese App hat noch nichts gesendet. Clients nehmen Benachrichtigungen nur von Apps an, deren Manifest sie akzeptieren.";
export const signedByFid = (fid: Value) => `Signiert von fid ${fid}, für diese Domain`;
export const nobodysSignatureHolds = "Keine gültige Signatur für diese Domain";
export const nothingToFix = "Nichts zu beheben.";
export const severities = { error: "Fehler", warning: "Warnung", info: "Hinweis" } as const;

export const name = "Name";
export const peopleSeeItsFirstLetterBeside =
  "Neben deinen Benachrichtigungen erscheint hier der erste Buchstabe.";
export const url = "URL";
export const whereTheAppIsNotificationsCan =
  "Wo die App liegt. Benachrichtigungen können nur Seiten dieses Hosts öffnen.";
export const whereTheAppIsOnADemo =
  "Wo die App liegt: in diesem Demo-Netz geht jeder Name unter demo.example. Benachrichtigungen können nur Seiten dieses Hosts öffnen.";
export const description = "Beschreibung";
export const acceptedClients = "Akzeptierte Clients";
export const fidsOfTheClientAppsWhose = "Fids der Client-Apps, deren Meldungen zählen; leer: alle.";
export const registerAMiniApp = "Mini-App registrieren";
export const atBecomesOneOfYourApps = (name: Value, appUrl: Value) =>
  `„${name}“ unter ${appUrl} wird eine deiner Apps. Die nächste Seite zeigt ihr Sendegeheimnis; es erneut anzuzeigen erfordert eine Signatur.`;
export const changeTheApp = "App ändern";
export const ofWillChange = (value: Value, name: Value) => `An „${name}“ ändert sich: ${value}.`;
export const rotateTheSendSecret = "Sendegeheimnis erneuern";
export const getsANewSendSecretWhich = (name: Value) =>
  `„${name}“ bekommt ein neues Sendegeheimnis, das diese Seite dann zeigt; es erneut anzuzeigen erfordert eine Signatur. Das jetzige gilt noch bis zum Ende seiner Frist.`;
export const revealTheSendSecrets = "Sendegeheimnisse anzeigen";
export const theNodeShowsTheSendSecrets = (name: Value) =>
  `Der Knoten zeigt die Sendegeheimnisse von „${name}“ noch einmal. Es ändert sich nichts.`;
export const deleteTheApp = "App löschen";
export const isDeletedWithItsTokensCampaigns = (name: Value) =>
  `„${name}“ wird mit ihren Tokens, Kampagnen und Geheimnissen gelöscht. Das lässt sich nicht rückgängig machen: Alle müssen die App neu hinzufügen.`;
export const yourMiniApps = "Deine Mini-Apps";
export const countApps = (count: number) => plural(count, "App", "Apps");
export const noMiniAppsYetPutA = (link: Rich): Rich => [
  "Noch keine Mini-Apps. ",
  link,
  ", ergänze ihr Manifest um eine Zeile, und dieser Knoten hält fest, wer sie hinzufügt.",
];

export const unnamedClient = "Client ohne Namen";
export const growthAppearsTomorrowTodayIsThe =
  "Das Wachstum erscheint morgen: Heute ist der erste Tag, der zählt.";
export const enabledTokensFromOnToOn = (enabled: Value, day: Value, enabled2: Value, day2: Value) =>
  `Aktive Tokens von ${enabled} am ${day} bis ${enabled2} am ${day2}`;
export const dayByDay = "Tag für Tag";
export const growthDayByDay = "Wachstum Tag für Tag";
export const dayUtc = "Tag (UTC)";
export const enabled = "Aktiv";
export const added = "Hinzugefügt";
export const removed = "Entfernt";
export const retention = "Nutzerbindung";
export const noWeeksYet = "Noch keine Daten. Die erste Woche erscheint, sobald jemand die App hinzufügt.";
export const weekOf = "Woche vom";
export const afterWeeks = (weeks: number) => (weeks === 0 ? "Ihr Ende" : plural(weeks, "Woche", "Wochen"));
export const reachableAtTheEnd =
  "Von denen, die die App in einer Woche (Montag bis Sonntag, UTC) hinzugefügt haben: wie viele am Ende dieser und späterer Wochen noch erreichbar waren.";
export const partOf = (link: Rich): Rich => [
  "Ein Teil von ",
  link,
  ", deren Seite die Ergebnisse aller Teile und Texte zeigt.",
];
export const aScheduledSend = "einer geplanten Benachrichtigung";
export const inParts = (parts: number) => `in ${plural(parts, "Teil", "Teilen")}`;
export const aSegmentIs = (link: Rich): Rich => [
  "Um immer wieder an einen Teil von ihnen zu senden: ",
  link,
  ".",
];
export const saveASegment = "Segment speichern";
export const turnedOff = "Abgeschaltet";
export const invalid = "Ungültig";
export const audienceByClient = "Reichweite nach Client";
export const client = "Client";
export const host = "Host";
export const noToken = "Kein Token";
export const theLargestOf = (length: Rich, count: Rich): Rich => [
  "Die ",
  length,
  " größten von ",
  count,
  ".",
];
export const audience = "Reichweite";
export const lastDays = (days: Rich): Rich => ["letzte ", days, " Tage"];
export const noUsersYetTheyAppearHere =
  "Noch niemand. Personen erscheinen hier, sobald ein Client meldet, dass sie die App hinzugefügt haben.";
export const aSendReaches = "Erreichbar";
export const tokensOf = (count: number) => (count === 1 ? "Token" : "Tokens");

export const countPeople = (count: number) => plural(count, "Person", "Personen");
export const canGetItLater = (people: Value) => `Später erreichbar: ${people}`;
export const copyTheirFids = "Ihre fids kopieren";
export const theirClientAskedToSendLater =
  "Ihr Client bat, später zu senden. Wer die Benachrichtigung hat, bekommt sie nicht zweimal.";
export const retry = (people: Rich): Rich => ["Wiederholen für ", people];
export const thisBrowserCannotStoreSoLong =
  "Dieser Browser kann eine so lange Liste nicht speichern. Kopiere die fids und sende an jeweils einen Teil.";
export const app = "App";
export const campaign = "Kampagne";
export const duplicate = "Duplizieren";
export const belowAreTheLastFiguresFrom = "Unten stehen die letzten Zahlen des Knotens.";

export const queued = "In der Warteschlange";
export const running = "Läuft";
export const completed = "Abgeschlossen";
export const aborted = "Abgebrochen";
export const notification = "Benachrichtigung";
export const state = "Status";
export const delivered = "Zugestellt";
export const failed = "Fehlgeschlagen";
export const skipped = "Übersprungen";
export const when = "Wann";
export const nothingWasSentInTheLast = (link: Rich): Rich => [
  "In den letzten 30 Tagen wurde nichts gesendet. ",
  link,
  ".",
];
export const sendANotification = "Benachrichtigung senden";
export const percentOfTokensSettled = (now: Value) => `${now} Prozent der Tokens erledigt`;
export const theOperatorHasPausedSendsThis = (count: Value) =>
  `Der Betreiber hat das Senden angehalten: Diese Kampagne läuft weiter, sobald er es fortsetzt. Bisher erledigt: ${count}.`;
export const countTokens = (count: number) => plural(count, "Token", "Tokens");
export const queuedYouMayCloseThisPage =
  "In der Warteschlange. Du kannst diese Seite schließen: Der Knoten macht weiter.";
export const noUserHadAnEnabledToken = "Niemand hatte ein aktives Token, deshalb wurde nichts gesendet.";
export const of = (settled: Value, count: Value) => `${settled} von ${count}`;
export const settledInYouMayCloseThis = (of: Value, took: Value) =>
  `${of} erledigt in ${took}. Du kannst diese Seite schließen: Der Knoten macht weiter.`;
export const abortedAfterTheAppWasDeleted = (count: Value) =>
  `Abgebrochen nach ${count}: Die App wurde gelöscht, oder der Knoten stand länger still, als er weiß, wer die Benachrichtigung hat.`;
export const deliveredOf = (delivered: Value, tokens: Value) => `${delivered} von ${tokens} zugestellt`;
export const rateLimited = (count: Value) => `${count} vom Client gedrosselt`;
export const failedOnes = (count: Value) => `${count} fehlgeschlagen`;
export const skippedOnes = (count: Value) => `${count} übersprungen`;
export const outsideOnes = (count: Value) => `${count} gehören nicht dazu`;
export const settledIn = (count: Value, took: Value) => `${count} erledigt in ${took}.`;
export const progress = "Fortschritt";
export const remaining = "Übrig";
export const tokensPerSecond = "Tokens pro Sekunde";
export const byClientHost = "Nach Host des Clients";
export const copyAsCsv = "Als CSV kopieren";
export const noClientHasRespondedYet = "Noch hat kein Client geantwortet.";
export const noClientReachedNoUserHas = "Kein Client erreicht: Niemand hat ein aktives Token.";
export const resultsByClientHost = "Ergebnisse nach Host des Clients";
export const reasons = "Gründe";
export const theLargestOfHosts = (length: Rich, clientHostCount: Rich): Rich => [
  "Die ",
  length,
  " größten von ",
  clientHostCount,
  " Hosts.",
];
export const skippedBecause = "Übersprungen:";

export const theClientAskedToSendLater = "der Client bat, später zu senden";
export const theClientNoLongerKnowsThe = "der Client kennt das Token nicht mehr";
export const theClientsResponseDoesNotName = "die Antwort des Clients nennt das Token nicht";
export const theClientTimedOut = "Zeitüberschreitung beim Client";
export const theClientsHostNameDidNot = "der Hostname des Clients ließ sich nicht auflösen";
export const theClientRefusedTheConnection = "der Client hat die Verbindung abgelehnt";
export const theClientsCertificateWasRejected = "das Zertifikat des Clients wurde abgelehnt";
export const theClientClosedTheConnection = "der Client hat die Verbindung geschlossen";
export const theClientWasUnreachableForHalf = "der Client war eine halbe Minute lang nicht erreichbar";
export const theUrlIsNotOnA = "die URL liegt nicht auf einem öffentlichen Host";
export const theClientRedirectsRedirectsAreNot = "der Client leitet um; Umleitungen folgt der Knoten nicht";
export const excludedByTheListOfFids = "durch die Liste der fids ausgeschlossen";
export const theyAreNotInTheSegment = "gehören nicht zum Segment";
export const theClientsResponseIsNotHttp = "die Antwort des Clients ist kein HTTP";
export const theClientsResponseIsTooLarge = "die Antwort des Clients ist zu groß";
export const theClientsResponseIsNoResult = "die Antwort des Clients ist kein Sendeergebnis";
export const theClientKnowsNoWebhookUrl = "der Client kennt keine Webhook-URL der App";
export const theClientGivesNoReason = "der Client nennt keinen Grund, den dieser Knoten kennt";
export const theClientKnowsAnotherDomain = "der Client kennt die App unter einer anderen Domain";
export const theClientRefusesTheTargetUrl = "der Client lehnt die Ziel-URL ab";
export const theClientRespondedWith = (status: Value) => `der Client hat mit ${status} geantwortet`;
export const nothingHasChanged = "Es hat sich nichts geändert.";
export const theyDoNotFollowTheFid = "folgen der fid nicht";
export const theyAlreadyHaveThisNotification = "haben diese Benachrichtigung schon";
export const anotherCampaignWasSendingItTo = "eine andere Kampagne war dabei, sie ihnen zu senden";
export const title = "Titel";
export const text = "Text";
export const opens = "Öffnet";
export const aPageOfYourApp = "Eine Seite deiner App.";
export const theirFids = "Ihre fids";
export const numbersSeparatedBySpacesOrCommas = "Zahlen, durch Leerzeichen oder Kommas getrennt.";
export const withoutTheseFids = "Ohne diese fids";
export const onlyFollowersOf = "Nur Follower von";
export const anFid = "Eine fid.";
export const nameAtLeastOneFid = "Nenne mindestens eine fid.";
export const clientsOpenItOnTheHost = (host: Value) =>
  `Clients öffnen sie nur auf dem Host der App: ${host}.`;

export const registered = "Registriert";
export const hasTheIdCopyItsSend = (bold: Rich, code: Rich, code2: Rich): Rich => [
  bold,
  " hat die Kennung ",
  code,
  ". Kopiere das Sendegeheimnis jetzt: Diese Seite vergisst es, wenn du sie verlässt, und es erneut anzuzeigen erfordert eine Signatur. Dein Server sendet damit, im Header ",
  code2,
  ". Von hier aus sendest du ohne es.",
];
export const openTheApp = "App öffnen";
export const newMiniApp = "Neue Mini-App";
export const signAndRegister = "Signieren und registrieren";

export const recipients = "Empfänger";
export const noRecipientsNoEnabledTokenPasses = "Keine Empfänger: Kein aktives Token passt zu den Filtern.";
export const withLabel = (bold: Rich, count: Rich, more: Rich): Rich => [bold, " mit ", count, more, "."];
export const ofThemHaveItAlreadyAnd = (sentBefore: Value) =>
  `; ${sentBefore} davon haben sie schon und bekommen sie nicht noch einmal`;
export const everyoneWhoHasTheApp = "Alle, die die App haben";
export const everyoneIn = (segment: Value) => `Alle im Segment „${segment}“`;
export const someOfThem = "Einige davon";
export const narrowItDown = "Eingrenzen";
export const thisNotificationWasSentBefore =
  "Diese Benachrichtigung wurde schon gesendet: Wer sie hat, bekommt sie nicht zweimal.";
export const makeItANewOne = "Zu einer neuen machen";
export const everyoneTheFormSelects = "alle, die das Formular auswählt";
export const isSentToANotificationCannot = (title: Value, recipients: Value) =>
  `„${title}“ geht an ${recipients}. Eine Benachrichtigung lässt sich nicht zurückholen.`;
export const sendTheNotification = "Benachrichtigung senden";
export const signAndSchedule = "Signieren und planen";
export const isScheduledFor = (title: Value, when: Value, recipients: Value) =>
  `„${title}“ geht ${when} an ${recipients}. Du signierst einmal, jetzt. Bis dahin lässt sie sich absagen.`;
export const asOfNow = (recipients: Value) => `${recipients} nach jetzigem Stand`;
export const inSegment = (recipients: Value, segment: Value) => `${recipients}, im Segment „${segment}“`;
export const halfOfThemGet = (text: Value) => `Die Hälfte bekommt stattdessen „${text}“.`;
export const signAndSend = "Signieren und senden";
export const signAndSendTo = (fids: Value) => `Signieren und an ${fids} senden`;
export const oneWalletSignatureNoSecretIs = "Eine Wallet-Signatur. Ein Geheimnis ist nicht nötig.";
export const message = "Nachricht";
