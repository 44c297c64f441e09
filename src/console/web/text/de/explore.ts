import type { Rich, Value } from "../format.ts";
import { plural } from "../format.ts";

export const loading = "Lädt";
export const theCastThatThisRepliesTo = (link: Rich): Rich => [
  "Der Cast, auf den dieser antwortet, ist nicht hier: entfernt, verdrängt oder nie gesehen. ",
  link,
];
export const itsPage = "Seine Seite";
export const showWhatItRepliesTo = "Zeigen, worauf er antwortet";
export const showEarlierCasts = "Frühere Casts zeigen";
export const startOfTheThread = "Anfang des Threads";
export const replies = "Antworten";
export const quotes = "Zitate";
export const whoLiked = "Likes von";
export const rawJson = "JSON";
export const aboutThisCast = "Über diesen Cast";
export const explore = "Entdecken";
export const cast = "Cast";
export const castBy = (author: Value) => `Cast von ${author}`;
export const reply = "Antwort";
export const noRepliesYet = "Noch keine Antworten.";
export const theApiHasThe50Oldest = (count: Rich): Rich => [
  count,
  ": Die API hat die 50 ältesten eines Casts, 500 eines Threads.",
];
export const countMoreReplies = (count: number) => plural(count, "weitere Antwort", "weitere Antworten");
export const thisCastIsNotHere = "Dieser Cast ist nicht hier";
export const thisIsNotTheHashOf = "Das ist nicht der Hash eines Casts";
export const itWasRemovedPrunedOrThis =
  "Er wurde entfernt oder verdrängt, oder dieser Knoten hat ihn nie gesehen. ";
export const aHashIs0xAnd40 = "Ein Hash besteht aus 0x und 40 Hexziffern. ";
export const noQuotesYet = "Noch keine Zitate.";
export const noLikesYet = "Noch keine Likes.";

export const channels = "Kanäle";
export const noChannelsFound = "Keine Kanäle gefunden.";
export const casts = "Casts";
export const followers = "Follower";

export const replied = "geantwortet";
export const liked = "gelikt";
export const recast = "recastet";
export const added = "Hinzugefügt";
export const removed = "Entfernt";
export const resetByTheAdministrator = "Vom Administrator zurückgesetzt";
export const block = (blockNumber: Rich): Rich => ["Block ", blockNumber];
export const recoveryBy = (recoveryAddress: Value) => `, Wiederherstellung durch ${recoveryAddress}`;
export const registeredTo = (to: Value, recovery: Value) => `Registriert auf ${to}${recovery}`;
export const movedFromTo = (from: Value, to: Value) => `Übertragen von ${from} an ${to}`;
export const recoveryAddressIsNow = (recoveryAddress: Value) =>
  `Adresse zur Wiederherstellung ist jetzt ${recoveryAddress}`;
export const andMore = (others: Value) => ` und ${others} weitere`;
export const followed = (who: Rich): Rich => [who, ": neuer Follow"];
export const likedOrRecast = "gelikt oder recastet";
export const thisCast = (who: Rich, verb: Rich): Rich => [who, ": diesen Cast ", verb];
export const mentionedThisPerson = "hat diese Person erwähnt";
export const noCastsYet = "Noch keine Casts.";
export const popular = "Beliebt";
export const likes = "Likes";
export const noLikesYetOrTheLiked = "Noch keine Likes, oder die Casts wurden gelöscht.";
export const noFollowersYet = "Noch keine Follower.";
export const following = "Folgt";
export const notFollowingAnyoneYet = "Folgt noch niemandem.";
export const mutuals = "Gegenseitig";
export const noMutualFollowsYet = "Noch keine gegenseitigen Follows.";
export const noCastsInAChannelYet = "Noch keine Casts in einem Kanal.";
export const notifications = "Benachrichtigungen";
export const noMentionsRepliesReactionsOrNew =
  "Keine Erwähnungen, Antworten, Reaktionen oder neuen Follower.";
export const keys = "Schlüssel";
export const noKeyWasEverAddedOn =
  "On-chain wurde nie ein Schlüssel hinzugefügt: Die Casts dieser Person sind mit anders hinzugefügten Schlüsseln signiert, oder es gibt keine.";
export const registry = "Register";
export const noRegistryEvents = "Keine Einträge im Register.";

export const custody = (part: Rich, more: Rich): Rich => ["Custody ", part, more];
export const verified = (length: Value) => `, ${length} verifiziert`;
export const custodyAddress = "Custody";
export const unknown = "unbekannt";
export const verifiedAddressesShort = "Verifiziert";
export const registered = "Registriert";
export const userAndFid = (user: Rich, fid: Rich): Rich => [user, " · fid ", fid];
export const countFollowing = (bold: Rich): Rich => ["folgt ", bold];
export const countFollowers = (bold: Rich): Rich => [bold, " Follower"];
export const pro = "Pro";
export const reactions = "Reaktionen";
export const follows = "Follows";
export const verifiedAddresses = "Verifizierte Adressen";
export const profile = "Profil";
export const names = "Namen";
export const lentStorage = "Verliehener Speicher";
export const of = (used: Rich, capacity: Rich): Rich => [used, " von ", capacity];
export const storage = "Speicher";
export const countUnits = (count: number) => plural(count, "Einheit", "Einheiten");
export const fid = (who: Value) => `fid ${who}`;
export const mutualFollows = "Gegenseitige Follows";
export const all = "Alle";
export const notFound = (shown: Value) => `${shown} nicht gefunden`;
export const noPersonNamedHere = (shown: Value) => `Hier gibt es niemanden mit dem Namen ${shown}`;
export const theFidIsNotRegisteredOr = "Die fid ist nicht registriert, oder dieser Knoten folgt ihr nicht.";
export const theNameWasNeverRegisteredWas =
  "Der Name wurde nie registriert, wurde freigegeben oder gehört einer Person, der dieser Knoten nicht folgt.";
export const searchForIt = "Danach suchen";
export const didYouMean = "Meintest du";

export const people = "Personen";
export const search = "Suche";
export const searchIn = "Suchen in";
export const open = (value: Rich): Rich => [value, " öffnen"];
export const nothingFoundForThisHashAddress =
  "Zu diesem Hash, dieser Adresse oder diesem Link gibt es nichts.";
export const peopleWithThisAddress = "Personen mit dieser Adresse";
export const noPeopleFound = "Keine Personen gefunden.";
export const noCastsFound = "Keine Casts gefunden.";
export const allOf = (kind: Rich): Rich => ["Alle: ", kind];
export const whatSearchFinds = "Was die Suche findet";
export const thatHaveEveryWordInAny = (bold: Rich): Rich => [
  bold,
  " mit allen Wörtern in beliebiger Reihenfolge; das letzte darf ein Wortanfang sein. „Zwei Wörter“ in Anführungszeichen sind eine feste Wortfolge. Andere Formen eines Wortes und Tippfehler werden nicht gefunden.",
];
export const byTheBeginningOfAName = (bold: Rich, bold2: Rich): Rich => [
  bold,
  " nach Wortanfängen von Benutzer- und Anzeigename, mit oder ohne Akzente. ",
  bold2,
  " nach ihrem Namen.",
];
export const aFidNameChannelHashAddress =
  "Eine fid, ein @name, /kanal, Hash, eine Adresse oder der Link eines Clients öffnet die passende Seite.";
export const typeAboveWordsOfACast =
  "Gib oben Wörter eines Casts, einen Namen oder einen Kanal ein, oder füge einen Hash, eine Adresse oder einen Link ein.";
