import type { Rich, Value } from "../format.ts";

export const explore = "Entdecken";
export const channels = "Kanäle";
export const findAChannel = "Kanal finden";
export const allChannelsByName = "Alle Kanäle, nach Namen";
export const channelsFound = "Gefundene Kanäle";
export const noChannelsYetAChannelBegins = "Noch keine Kanäle. Ein Kanal beginnt mit seinem ersten Cast.";
export const noChannelsFound = "Keine Kanäle gefunden.";
export const casts = "Casts";
export const members = "Mitglieder";
export const moderation = "Moderation";
export const channel = "Kanal";
export const about = "Über";
export const noCastsInThisChannelAll = "Keine Casts in diesem Kanal.";
export const noMembersYet = "Noch keine Mitglieder.";
export const onlyRegisteredChannelsAreModerated =
  "Dieser Kanal ist nicht registriert: Niemand kann darin Casts ausblenden oder Personen sperren.";
export const followers = "Follower";
export const firstCast = "Erster Cast";
export const parentUrl = "Übergeordnete URL";
export const lead = "Leitung";
export const thisChannelDoesNotExistHere = "Diesen Kanal gibt es hier noch nicht.";
export const aChannelBeginsWithTheFirst = (part: Rich): Rich => [
  "Ein Kanal beginnt mit dem ersten Cast, dessen übergeordnete URL die des Kanals ist, etwa ",
  part,
  ". Er braucht keine Registrierung.",
];
export const httpsFarcasterXyzChannel = (value: Rich): Rich => ["https://farcaster.xyz/~/channel/", value];
export const searchTheChannels = "Kanäle durchsuchen";

export const owner = "Eigentümer";
export const moderator = "Moderator";
export const member = "Mitglied";
export const moderators = "Moderatoren";
export const ownerModeratorsAndMembers = "Eigentümer, Moderatoren und Mitglieder";
export const noOneHasARoleHere = "Niemand hat in diesem Kanal eine Rolle.";
export const byWhom = (who: Rich): Rich => ["von ", who];
export const hidden = "Ausgeblendet";
export const shownAgain = "Wieder eingeblendet";
export const noCastWasHiddenHere = "In diesem Kanal wurde kein Cast ausgeblendet.";
export const banned = "Gesperrt";
export const noOneIsBannedHere = "In diesem Kanal ist niemand gesperrt.";
export const pinned = "Angepinnt";
export const nothingIsPinned = "Nichts ist angepinnt.";
export const theNodeDoesNotHaveTheCast = (hash: Rich): Rich => ["Der Knoten hat den Cast ", hash, " nicht."];
export const registered = "Registriert";
export const imported = "Importiert";
export const fromItsCasts = "Aus seinen Casts";
export const lapsed = "Registrierung abgelaufen";
export const everyone = "alle";
export const membersOnly = "nur Mitglieder";
export const recommended = "empfohlene Casts";
export const everyoneMayJoin = "jeder kann beitreten";
export const byModerators = "durch Eigentümer oder Moderation";
export const whoCasts = "Wer casten darf";
export const newMembers = "Neue Mitglieder";
export const registeredAt = "Registriert am";
export const registeredUntil = "Registriert bis";
export const ownersAddress = "Adresse des Eigentümers";
export const idOfTheProtocol = "Kennung im Protokoll";
export const id = "Kennung";
export const header = "Kopfbild";
export const rules = "Regeln";

export const follow = "Folgen";
export const unfollow = "Nicht mehr folgen";
export const connectToFollow = "Verbinden, um zu folgen";
export const youFollowNow = "Du folgst dem Kanal jetzt.";
export const youNoLongerFollow = "Du folgst dem Kanal nicht mehr.";
export const itIsOnItsWay = "Es ist unterwegs ins Netz.";
export const followTheChannel = (name: Value) =>
  `Einer deiner verwalteten Signierer likt das Token von ${name}; das ist ein Follow. Das ist öffentlich.`;
export const unfollowTheChannel = (name: Value) =>
  `Einer deiner verwalteten Signierer nimmt dein Like für das Token von ${name} zurück; das beendet den Follow.`;
export const thisNodeHasNoSignerOfYours =
  "Dieser Knoten hat keinen von dir bestätigten Signierer, der das schreiben darf. Bestätige den Signierer einer App, die diesen Knoten nutzt, und versuche es dann erneut.";
export const yourSigners = "Deine Signierer";
export const useTheDemoKey = "Dem Knoten den Schlüssel dieser Demo-Person geben";
export const theNodeHasTheKeyNow = "Der Knoten hat den Schlüssel jetzt. Versuche es erneut.";
export const theDemoKeyIsImported =
  "Der Knoten speichert den Schlüssel dieser Demo-Person als verwalteten Signierer. Schlüssel des Demo-Netzes sind öffentlich.";
export const parked = "Wartend";
export const verifyTheAddressAgain = (address: Rich): Rich => [
  "Dieser Kanal wartet auf seinen Eigentümer: Seit Kanäle zum Protokoll gehören, hat niemand ",
  address,
  " verifiziert. Bis dahin kann ihn niemand ändern.",
];
export const youHaveVerifiedItBefore = "Du hast diese Adresse schon einmal verifiziert.";
export const ifItIsYours = "Wenn die Adresse dir gehört, verifiziere sie erneut.";
export const verifyAgain = "Erneut verifizieren";
export const connectToVerify = "Verbinden, um zu verifizieren";
export const theAddressSignsTheClaim = (address: Value, fid: Value) =>
  `${address} hat signiert, dass sie zu fid ${fid} gehört. Einer deiner verwalteten Signierer veröffentlicht das; danach gehören dir die Kanäle der Adresse.`;
export const theAddressIsVerified = "Die Adresse ist verifiziert: Der Kanal gehört dir.";
