import type { Rich, Value } from "../../format.ts";
import { plural } from "../../format.ts";

export const chooseADemoPerson = "Demo-Person wählen";
export const theseArePeopleOfTheDemo =
  "Dies sind Personen des Demo-Netzes. Ihre Schlüssel sind öffentlich: Jeder kann als jede von ihnen handeln, und nichts, was du hier tust, wirkt sich außerhalb dieses Knotens aus.";
export const findAPerson = "Person finden";
export const nameHandleOrFid = "Name, @name oder fid";
export const people = "Personen";
export const fid = (fid: Rich): Rich => ["fid ", fid];
export const noDemoPeopleFound = "Keine Demo-Personen gefunden.";
export const andMore = (length: Rich): Rich => ["und ", length, " weitere"];
export const signatureRequest = "Signaturanfrage";
export const signThisRequestYourOwnWallet =
  "Diese Anfrage signieren? Deine eigene Wallet würde dasselbe zeigen.";
export const doNotAskAgainInThis = "Bei diesem Besuch nicht mehr fragen";
export const decline = "Ablehnen";
export const sign = "Signieren";

export const demoPhones = "Demo-Handys";
export const notified = (count: Rich): Rich => [count, " benachrichtigt"];
export const countPhones = (count: number) => plural(count, "Handy", "Handys");
export const nothingYetAddDemoPeopleThen =
  "Noch nichts. Füge Demo-Personen hinzu und sende dann: Jedes ihrer Handys zeigt die Benachrichtigung hier, wie es in den echten Clients wäre.";
export const notifiedPeople = "Benachrichtigte Personen";
export const hadTheClientThatAsksFor = (count: Rich): Rich => [
  count,
  " nutzen den Client, der jede zehnte Benachrichtigung aufschiebt. „Wiederholen“ in der Kampagne erreicht sie.",
];
export const openOnPhoneOf = (handle: Value) => `Auf dem Handy von ${handle} öffnen`;
export const openedBy = (handle: Value) => `Von ${handle} geöffnet`;
export const tapAPhone = "Tippe auf ein Gesicht, um sie als diese Person zu öffnen.";
export const openOn = (phones: Value) => `Auf ${phones} öffnen`;
export const openedOn = (phones: Value) => `Auf ${phones} geöffnet, wie es das Skript einer App meldet.`;
export const thisSendCountsNoOpens =
  "Diese Benachrichtigung zählt keine Öffnungen: Im Formular lässt es sich einschalten.";
export const countPeople = (count: number) => plural(count, "Person", "Personen");
export const n200Delivered = "200, zugestellt";
export const n500Fails = "500, schlägt fehl";
export const n410Gone = "410, gibt es nicht mehr";
export const timeout = "Zeitüberschreitung";
export const signatureVerified = "Signatur geprüft";
export const notSigned = "nicht signiert";
export const signatureWrong = "Signatur falsch";
export const noWebhookHasThisUrl = "kein Webhook hat diese URL";
export const useTheDemoReceiver = "Demo-Empfänger verwenden";
export const itRunsNextToThisNode =
  "Er läuft neben diesem Knoten, zeigt jede Anfrage und prüft ihre Signaturen.";
export const theDemoReceiver = "Der Demo-Empfänger";
export const countRequests = (count: number) => plural(count, "Anfrage", "Anfragen");
export const itRespondsToEachDeliveryWith = "Er antwortet auf jede Zustellung mit";
export const noRequestsYetSendATest = "Noch keine Anfragen. Sende einen Test oder erzeuge Aktivität.";
export const addDemoPeople = (people: Rich): Rich => [people, " Demo-Personen hinzufügen"];
export const addedTheApp = (count: Value) => `${count} hinzugefügt.`;
export const addedTheAppThenTheNode = (count: Value, refusal: Value) =>
  `${count} hinzugefügt, dann meldete der Knoten: ${refusal}`;
export const generateActivity = "Aktivität erzeugen";
export const peopleCastLikeAndFollowFor = (left: Value) =>
  `Personen casten, liken und folgen noch ${left} Sekunden lang.`;
export const thisIsADemoNetworkIts =
  "Die Personen des Demo-Netzes können deine App hinzufügen. Ihre Clients melden das wie echte.";
