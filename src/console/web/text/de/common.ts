import type { Rich, Value } from "../format.ts";
import { plural } from "../format.ts";

export const countLikes = (count: number) => plural(count, "Like", "Likes");
export const countRecasts = (count: number) => plural(count, "Recast", "Recasts");
export const countReplies = (count: number) => plural(count, "Antwort", "Antworten");
export const showLess = "Weniger anzeigen";
export const showAll = "Alles anzeigen";
export const aCastOfFid = (fid: Rich, part: Rich): Rich => ["Ein Cast von fid ", fid, " ", part];
export const openTheThread = ", Thread öffnen";
export const theCallOfThisCast = "Der Aufruf zu diesem Cast";

export const joined = "ist beigetreten";
export const themselves = "sich selbst";
export const fid = (user: Value, fid: Value) => `${user} · fid ${fid}`;
export const inLabel = (link: Rich): Rich => [" in\u00a0", link];
export const deletedAReply = "hat eine Antwort gelöscht";
export const deletedACast = "hat einen Cast gelöscht";
export const repliedTo = (part: Rich, channel: Rich): Rich => ["hat ", part, channel, " geantwortet"];
export const cast = (channel: Rich): Rich => ["hat einen Cast geschrieben", channel];
export const changedTheirProfile = "hat das Profil geändert";
export const anFidThatIsNotRegistered = "eine nicht registrierte fid";
export const aCastOf = (link: Rich, who: Rich): Rich => [link, " von ", who];
export const aCast = "einen Cast";
export const somethingNotFoundHere = "einen Cast, den dieser Knoten nicht hat,";
export const followed = (target: Rich): Rich => ["folgt jetzt ", target];
export const unfollowed = (target: Rich): Rich => ["folgt nicht mehr ", target];
export const likedWhat = (object: Rich): Rich => ["hat ", object, " gelikt"];
export const recastWhat = (object: Rich): Rich => ["hat ", object, " recastet"];
export const noLongerLikes = (object: Rich): Rich => ["likt ", object, " nicht mehr"];
export const noLongerRecasts = (object: Rich): Rich => ["recastet ", object, " nicht mehr"];
export const wasRegistered = "wurde als Kanal registriert";
export const changedInTheRegistry = "hat sich im Register geändert";
export const changedTheChannel = (where: Rich): Rich => ["hat ", where, " geändert"];
export const joinedChannel = (where: Rich): Rich => ["ist ", where, " beigetreten"];
export const leftChannel = (where: Rich): Rich => ["hat ", where, " verlassen"];
export const addedToChannel = (who: Rich, where: Rich): Rich => ["hat ", who, " in ", where, " aufgenommen"];
export const removedFromChannel = (who: Rich, where: Rich): Rich => [
  "hat ",
  who,
  " aus ",
  where,
  " entfernt",
];
export const bannedFromChannel = (who: Rich, where: Rich): Rich => ["hat ", who, " in ", where, " gesperrt"];
export const unbannedFromChannel = (who: Rich, where: Rich): Rich => [
  "hat ",
  who,
  " in ",
  where,
  " entsperrt",
];
export const madeModerator = (who: Rich, where: Rich): Rich => [
  "hat ",
  who,
  " die Moderation von ",
  where,
  " gegeben",
];
export const noLongerModerator = (who: Rich, where: Rich): Rich => [
  "hat ",
  who,
  " die Moderation von ",
  where,
  " entzogen",
];
export const pinnedIn = (where: Rich): Rich => ["hat in ", where, " einen Cast angepinnt"];
export const unpinnedIn = (where: Rich): Rich => ["hat in ", where, " den angepinnten Cast gelöst"];
export const hidCastIn = (where: Rich): Rich => ["hat in ", where, " einen Cast ausgeblendet"];
export const showsCastIn = (where: Rich): Rich => ["hat in ", where, " einen Cast wieder eingeblendet"];
export const openIt = ", öffnen";

export const countMembers = (count: number) => plural(count, "Mitglied", "Mitglieder");

export const otherHostsSeeYourAddress = "Andere Server sehen deine Adresse";
export const loadImages = "Bilder laden";
export const hideImages = "Bilder ausblenden";

export const people = "Personen";
export const casts = "Casts";
export const reactions = "Reaktionen";
export const follows = "Follows";
export const askingTheNode = "wird geprüft";
export const notReady = "Nicht bereit";
export const empty = "Leer";
export const ready = "Bereit";
export const whatIsMissingHereMayStill = (bold: Rich, reason: Rich): Rich => [
  bold,
  ": ",
  reason,
  ". Was hier fehlt, kann noch eintreffen.",
];
export const thisNodeIsNotReady = "Dieser Knoten ist nicht bereit";
export const itIsStarting = "er startet gerade";
export const followANode = "Einem Knoten folgen";
export const importAFile = "Datei importieren";
export const lookAroundFirst = "Erst umsehen";
export const fillIt = "Füllen";
export const setItUpHere = "Im Browser einrichten";
export const castsAppearHereOnceItHas = (bold: Rich, reason: Rich): Rich => [
  bold,
  ": ",
  reason,
  ". Casts erscheinen hier, sobald er welche hat.",
];
export const thisNodeIsEmpty = (link: Rich): Rich => ["Dieser Knoten ist leer. ", link];
export const howToFillIt = "So füllst du ihn";
export const noCastsInTheLast24 = (link: Rich): Rich => [
  "Keine Casts in den letzten 24 Stunden. Ältere findest du in den ",
  link,
  ".",
];
export const channels = "Kanälen";
export const percent = (percent: Value) => `${percent} Prozent`;
export const youMayCloseThisPageThe = (more: Rich, more2: Rich): Rich => [
  more,
  more2,
  "Du kannst diese Seite schließen: Der Knoten macht weiter.",
];
export const ofPeopleAreHere = (done: Value, total: Value) => `${done} von ${total} Personen sind da. `;
export const aboutLeft = (etaSecs: Value) => `Noch etwa ${etaSecs}. `;
export const signedOperationsChangesAreRefused = "signierte Vorgänge: Änderungen werden abgelehnt";
export const tokenEventsClientsRepeatThemLater = "Token-Ereignisse: Clients wiederholen sie später";
export const notificationsTheyAreAcceptedAnd = "Benachrichtigungen: sie werden angenommen und warten";
export const deliveriesToWebhooksTheyAreQueued = "Zustellungen an Webhooks: sie warten in der Warteschlange";
export const writesNewOnesAreRefusedQueued = "Schreibvorgänge: neue werden abgelehnt, wartende warten weiter";
export const sinceBecause = (bold: Rich, at: Rich, name: Rich): Rich => [
  bold,
  ", seit ",
  at,
  ", Grund: ",
  name,
];
export const theOperatorHasPaused = (name: Rich): Rich => ["Der Betreiber hat angehalten: ", name];

export const theNodeEndedTheStream = "der Knoten hat den Stream beendet";

export const theNodeRespondedWith = (status: Value) => `der Knoten hat mit ${status} geantwortet`;
export const theNodeCannotBeReached = "der Knoten ist nicht erreichbar";
export const theNodeDidNotRespondWithin = (limitMs: Value) =>
  `der Knoten hat nicht innerhalb von ${limitMs} s geantwortet`;
export const theNodeDidNotTryAgain = (limitMs: Value) =>
  `${theNodeDidNotRespondWithin(limitMs)}. Vielleicht ist es doch geschehen: Sieh vorher nach`;
export const theResponseIsNotComplete = "die Antwort ist unvollständig";

export const fidOf = (fid: Value) => `fid ${fid}`;

export const demoPerson = "Demo-Person";
export const signedInAsDemo = (link: Rich): Rich => ["Angemeldet als ", link, " (Demo)."];
export const anyoneWhoOpensThisPageCan = "Das kann jeder, der diese Seite öffnet.";
export const signOut = (part: Rich): Rich => ["Abmelden", part];
export const ofTheDemoWallet = " von der Demo-Wallet";

export const aDemoPersonsWallet = "Wallet einer Demo-Person";
export const text = "Text";

export const anotherConfirmationIsOpenNothing =
  "Eine andere Bestätigung ist offen. Es wurde nichts gesendet.";
export const connectAWalletFirstNothingWas = "Verbinde zuerst eine Wallet. Es wurde nichts gesendet.";

export const connectAWallet = "Wallet verbinden";
export const connect = "Verbinden";
export const youAre = (name: Rich): Rich => ["Du bist ", name];
export const demo = "Demo";

export const theOperatorOfThisNodeHas = "Der Betreiber dieses Knotens hat Sitzungen abgeschaltet.";
export const thisPageCameOverPlainHttp = "Über http von einem anderen Rechner signiert der Browser nicht.";

export const theCallBehindThisView = "Der Aufruf hinter dieser Ansicht";
export const language = "Sprache";
export const edit = "Ausprobieren";

export const copied = "Kopiert";
export const notCopied = "Nicht kopiert";
export const theBrowserBlockedCopyingSelectThe = "Der Browser verhindert das Kopieren. Markiere den Text.";
export const copy = "Kopieren";

export const close = "Schließen";

export const loadMore = (size: Value) => `${size} weitere laden`;
export const newer = (count: Rich): Rich => [count, " neuere"];

export const breadcrumb = "Pfad";

export const old = (age: Value) => `${age} alt`;
export const noResponse = "Keine Antwort";
export const noResponseFor = (age: Value) => `Seit ${age} keine Antwort`;
export const loading = "Lädt";
export const notOnThisNode = "Nicht auf diesem Knoten:";
export const noResponseBecause = "Keine Antwort:";
export const request = (requestId: Rich): Rich => ["Anfrage ", requestId];
export const tryAgainInS = (left: Value) => `Erneut versuchen in ${left} s`;
export const tryAgain = "Erneut versuchen";
export const theCall = "Der Aufruf";

export const never = "nie";

export const searchPeopleCastsChannelsHashes = "Personen, Casts, Kanäle, Hashes suchen";
export const searchPeopleCastsChannels = "Personen, Casts, Kanäle suchen";
export const explore = "Entdecken";
export const stream = "Stream";
export const manage = "Verwalten";
export const status = "Status";
export const main = "Hauptmenü";
export const api = "API";
export const pageNotFound = "Seite nicht gefunden";
export const goToOrSearchForA = (link: Rich): Rich => [
  "Gehe zu ",
  link,
  " oder suche oben nach einer Person, einem Cast oder einem Kanal.",
];
export const keyboard = "Tastatur";
export const theme = "Farben";
export const languageOfThePage = "Sprache";
export const system = "System";
export const light = "hell";
export const dark = "dunkel";
export const thisNodeRequiresAnApiKey =
  "Dieser Knoten verlangt einen API-Schlüssel. Er bleibt in diesem Tab.";
export const theNodeRefusedTheApiKey =
  "Der Knoten hat diesen API-Schlüssel abgelehnt. Versuche einen anderen.";
export const whereApiKeysAreMade = "Mit deiner fid einen erstellen";
export const useIt = "Verwenden";
export const theNodeWasUpdatedThisTab = "Der Knoten wurde aktualisiert. Lade die Seite neu.";
export const theNodeDoesNotRespondThe =
  "Der Knoten antwortet nicht. Die Seite öffnet sich, sobald er es tut.";
export const reload = "Neu laden";
export const skipToContent = "Zum Inhalt springen";
export const thisPageFailed = "Auf dieser Seite ist ein Fehler aufgetreten.";
