import type { Rich, Value } from "../../format.ts";
import { plural } from "../../format.ts";

export const runACall = "Aufruf ausführen";
export const whatThisPageDoes =
  "Wähle eine Operation der API, fülle ihr Formular aus und führe sie auf diesem Knoten aus. Nichts läuft, bevor du es sagst.";
export const operation = "Operation";
export const chooseAnOperation = "Operation wählen";
export const theApiHasNoSuchCall = "Dieser Link nennt einen Aufruf, den die API dieses Knotens nicht hat.";
export const fullReference = "Ganze Referenz";
export const responseTitle = "Antwort";
export const asCode = "Dieser Aufruf als Code";
export const runItToSeeItsResponse = "Führe den Aufruf aus, um hier seine Antwort zu sehen.";

export const run = "Ausführen";
export const signAndRun = "Signieren und ausführen";
export const fillTheExample = "Beispiel einsetzen";
export const clear = "Leeren";
export const copyLink = "Link kopieren";
export const aLinkHasNoSecrets =
  "Der Link füllt dieses Formular für andere aus. Er enthält keine Geheimnisse und führt nichts aus.";
export const apiKey = "API-Schlüssel";
export const itStaysInMemory = "Er bleibt in diesem Tab und wird nicht gespeichert.";
export const itsBodyIsSigned = "Der Body selbst ist signiert: Füge eine JSON Farcaster Signature ein.";
export const requiresOneSignature = "Erfordert eine Wallet-Signatur.";
export const theSessionSigns = "Deine Sitzung signiert ihn.";
export const connectFirst = (link: Rich): Rich => [
  "Das darf nur aufrufen, wem es gehört. ",
  link,
  "; das Formular bleibt.",
];
export const connectAWallet = "Wallet verbinden";
export const aStreamDoesNotEnd = (link: Rich): Rich => ["Die Antwort endet nicht. ", link, "."];
export const openTheStream = "Auf der Seite des Streams öffnen";
export const theNodeRuns = (method: Value, path: Value, fid: Value) =>
  `Der Knoten führt ${method} ${path} für fid ${fid} aus.`;
export const watchAsAStream = "Als Stream ansehen";
export const saveAsAWebhook = "Als Webhook speichern";
export const byDefault = (value: Value) => `Standard ${value}`;
export const from = (value: Value) => `ab ${value}`;
export const upTo = (value: Value) => `bis ${value}`;
export const listOfValues = "durch Leerzeichen oder Kommas getrennt";
export const asJson = "JSON";
export const theBody = "Body";
export const notSent = "nicht gesendet";
export const optional = "optional";

export const found = "Gefunden";

export const required = "Pflichtfeld.";
export const thisIsNoJson = "Das ist noch kein JSON.";
export const aWholeNumber = "Eine ganze Zahl.";
export const aNumber = "Eine Zahl.";
export const atLeast = (value: Value) => `Mindestens ${value}.`;
export const atMost = (value: Value) => `Höchstens ${value}.`;
export const charactersAtLeast = (count: number) => `Mindestens ${plural(count, "Zeichen", "Zeichen")}.`;
export const charactersAtMost = (count: number) => `Höchstens ${plural(count, "Zeichen", "Zeichen")}.`;
export const itMustMatch = (pattern: Value) => `Es muss zu ${pattern} passen.`;
export const valuesAtLeast = (count: number) => `Mindestens ${plural(count, "Wert", "Werte")}.`;
export const valuesAtMost = (count: number) => `Höchstens ${plural(count, "Wert", "Werte")}.`;

export const view = "Ansicht der Antwort";
export const fields = "Felder";
export const raw = "Roh";
export const headers = "Header";
export const nextPage = "Nächste Seite";
export const copyPath = (path: Value) => `Den Pfad ${path} kopieren`;
export const showMore = (count: Value) => `${count} weitere anzeigen`;
export const itemsOf = (count: number) => plural(count, "Eintrag", "Einträge");
export const fieldsOf = (count: number) => plural(count, "Feld", "Felder");
export const unitsLeft = (units: Value) => `noch ${units} Einheiten in dieser Minute`;
export const noBody = "Die Antwort hat keinen Body.";
export const bodyOfTheResponse = "Body der Antwort";
export const headersOfTheResponse = "Header der Antwort";

export const lastCalls = "Deine letzten Aufrufe";
export const onlyInThisBrowser =
  "Nur in diesem Browser. Einen zu öffnen füllt das Formular und führt nichts aus.";
export const forgetThem = "Vergessen";
export const noResponse = "keine Antwort";
