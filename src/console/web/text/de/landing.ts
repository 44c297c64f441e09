import type { Rich, Value } from "../format.ts";
import { plural } from "../format.ts";

export const goTo = "Gehe zu";
export const nameFidHashChannel = "@name, fid, Hash, /kanal";
export const open = "Öffnen";
export const alsoAnAddressOrALink =
  "Auch eine Adresse oder ein Link zu einem Cast, einer Person oder einem Kanal.";
export const explore = "Entdecken";
export const trendingNow = "Gerade im Trend";
export const channels = "Kanäle";
export const all = "Alle";
export const noChannelIsBusyToday = (link: Rich): Rich => ["Heute ist in keinem Kanal viel los. ", link];
export const allChannels = "Alle Kanäle";
export const mostFollowedHere = "Hier am meisten gefolgt";
export const noOneYet = "Noch niemand.";

export const live = "Live";
export const stream = "Stream";
export const connecting = "verbindet";
export const showNew = (count: number) => plural(count, "neues anzeigen", "neue anzeigen");
export const aDemoNetworkIsIdleUntil = "Ein Demo-Netz ruht, bis du etwas auslöst. ";
export const connectedTheNextEventOfThe = "Verbunden. Das nächste Ereignis des Netzes erscheint hier. ";
export const openTheStream = "Stream öffnen";
export const oneClickFiveCalls = "Ein Klick, fünf Aufrufe";
export const buzz25Phones = "25 Handys klingeln lassen";
export const theirPhonesAreQuiet = "25 Handys warten auf eine Push-Nachricht.";
export const aDemoPersonSigns = "Eine Demo-Person signiert jeden Aufruf: ohne Wallet, ohne Dialog.";
export const STORY_STEPS = {
  session: "Als Mira Wren anmelden",
  app: "Eine App registrieren",
  people: "25 Personen fügen sie hinzu",
  send: "„Fresh bread“ senden",
  delivery: "Einen Webhook zustellen",
} as const;
export const demoNetwork = "Demo-Netz";
export const andCopyTheCallBehindAny = " und kopiere den Aufruf hinter jeder Ansicht.";
export const copyTheCallBehindAnyView =
  ", kopiere den Aufruf hinter jeder Ansicht, oder sende eine Push-Nachricht.";
export const copyTheCallBehindFromHere =
  ", kopiere den Aufruf hinter jeder Ansicht, und betreibe von hier deine Mini-Apps und Webhooks.";
export const thisNodeIsEmptyItHas =
  "Dieser Knoten ist leer: Er hat weder Personen noch Casts und folgt keinem anderen Knoten.";
export const toFillItChooseOneOf = "Wähle unten, wie du ihn füllst.";
export const itIsStillEmptyPeopleAnd = "Er ist noch leer: Personen und Casts sind unterwegs.";
export const andAreInOneFileNext = (count: Value, count2: Value) =>
  `${count} und ${count2} liegen in einer lokalen SQLite-Datei.`;
export const countPeople = (count: number) => plural(count, "Person", "Personen");
export const countCasts = (count: number) => plural(count, "Cast", "Casts");
export const peopleCastsAndChannelsAreIn = "Personen, Casts und Kanäle liegen in einer lokalen SQLite-Datei.";
export const browseThem = (leadOf: Rich): Rich => ["Sieh dich um", leadOf];
export const readingThemTakesAnApiKey = "Zum Lesen brauchst du einen API-Schlüssel.";
export const now = "Jetzt";
export const medianLatency = "Latenz (Median)";
export const messagesLast5Min = "Nachrichten, letzte 5 min";
export const theLastStepsOfSeconds = (length: Value, stepSecs: Value) =>
  `Die letzten ${length} Schritte von ${stepSecs} Sekunden`;
export const allTrending = "Alle Trends";
export const peopleThreadsChannelsAndSearchEach =
  "Personen, Threads, Kanäle und Suche, jeweils mit dem API-Aufruf dahinter.";
export const sendAPush = "Push senden";
export const registerAMiniAppSeeYour =
  "Registriere eine Mini-App, sieh deine Reichweite wachsen, prüfe die Vorschau und sende.";
export const catchEvents = "Ereignisse empfangen";
export const buildAWebhookFilterByClicking =
  "Klicke dir einen Webhook-Filter zusammen und probiere ihn an den letzten 1.000 Ereignissen aus.";
export const aFarcasterNodeOfYourOwn = "Dein eigener Farcaster-Knoten.";
export const tryItAsADemoPerson = "Als Demo-Person ausprobieren";
export const exploreTheNetwork = "Das Netz entdecken";
export const readTheApi = "Zur API →";
