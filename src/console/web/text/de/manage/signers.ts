import type { Rich, Value } from "../../format.ts";

export const createdState = "erstellt";
export const noAppHasRequestedApprovalYet = "Noch hat keine App um Bestätigung gebeten";
export const waitingForApproval = "wartet auf Bestätigung";
export const noUserHasApprovedItYet = "Noch hat ihn niemand bestätigt";
export const waitsFor = (user: Rich): Rich => ["Für ", user, ", noch nicht bestätigt"];
export const approved = "bestätigt";
export const itSignsForItsUser = "Er signiert für diese Person";
export const revoked = "widerrufen";
export const itsUserHasRevokedIt = "Die Person hat ihn widerrufen";
export const sendThisLinkToTheUser =
  "Sende diesen Link an die Person. Sie bestätigt mit der Wallet, der ihre fid gehört:";
export const copyTheLink = "Link kopieren";
export const users = "Personen";
export const removeTheSigner = "Signierer entfernen";
export const theNodeErasesTheKeyAnd = (fid: Value) =>
  `Der Knoten löscht den Schlüssel, und Apps können mit ihm nicht mehr für fid ${fid} handeln. Ein Schlüssel ohne On-chain-Transaktion entfernt sich auch selbst aus dem Netz.`;
export const theNodeErasesTheKeyIts =
  "Der Knoten löscht den Schlüssel. Sein Link zur Bestätigung gilt nicht mehr.";
export const forTheAppOf = (part: Rich, link: Rich): Rich => [part, "für die App von ", link];
export const fidOf = (appFid: Rich): Rich => ["fid ", appFid];
export const remove = "Entfernen";
export const permissions = "Rechte";
export const expiresUnlessUsed = "Läuft ab, wenn unbenutzt";
export const id = "Kennung";
export const publicKey = "Öffentlicher Schlüssel";
export const signersAreOff = "Signierer sind abgeschaltet";
export const off = "aus";
export const theOperatorHasTurnedManagedSigners =
  "Der Betreiber hat verwaltete Signierer abgeschaltet. Vorhandene lassen sich ansehen und entfernen; keiner signiert.";
export const thisNodeHoldsNoKeysOf =
  "Dieser Knoten verwahrt keine Schlüssel von Personen: Er hat keinen Schlüssel, um sie zu verschlüsseln.";
export const theOperatorTurnsThemOnBy = (part: Rich): Rich => [
  "Der Betreiber schaltet sie ein mit ",
  part,
  ".",
];
export const whichPrints = (code: Rich, code2: Rich): Rich => [code, "; ", code2, " gibt einen Wert aus"];
export const managedSigners = "Verwaltete Signierer";
export const noManagedSigners = "Keine verwalteten Signierer.";
export const noManagedSignersYetAnApp = (link: Rich, bold: Rich): Rich => [
  "Noch keine verwalteten Signierer. Erstelle oben einen, oder aus deiner App mit einem ",
  link,
  " mit dem Recht ",
  bold,
  ". Eine Person bestätigt ihn: Danach castet und likt der Schlüssel für sie, und sie kann ihn jederzeit widerrufen.",
];
export const signersScope = "signers";
export const apiKey = "API-Schlüssel";
export const signers = "Signierer";

export const qrCode = "QR-Code des Links";
export const approveAsADemoPerson = "Als Demo-Person bestätigen";
export const thisIsADemoNetworkApprove =
  "Dies ist ein Demo-Netz: Jeder darf als eine seiner Personen bestätigen.";
export const thisIsADemoNetworkApproveAs =
  "Das ist ein Demo-Netz: Du darfst als diese Person bestätigen, die das als einzige kann.";
export const publishATestCast = "Test-Cast veröffentlichen";
export const itPublishesForFid = (text: Value, fid: Value) =>
  `Der Knoten veröffentlicht „${text}“ für fid ${fid}, für alle lesbar.`;
export const TEST_TEXT = "A test cast by a managed signer";
export const published = (link: Rich): Rich => ["Veröffentlicht: ", link];
export const queued = "Er ist unterwegs ins Netz.";
export const openTheCast = "Cast öffnen";
export const publishFromYourApp = "Aus deiner App veröffentlichen";
export const theKeyNeedsTheScope = (link: Rich, code: Rich): Rich => [
  "Das braucht einen ",
  link,
  " mit dem Recht ",
  code,
  ".",
];

export const newSigner = "Neuer Signierer";
export const forWhom = "Für";
export const anyone = "Wer den Link hat, kann ihn einmal bestätigen.";
export const onePerson = "Nur eine Person kann ihn bestätigen.";
export const theFirstPersonCounts = "Wähle eine Person.";
export const signAndCreate = "Signieren und erstellen";
export const everything = "Alles";
export const linkEnds = "Link läuft ab";
export const LINK_SPANS = [
  [3600, "in 1 Stunde"],
  [86_400, "in 1 Tag"],
  [604_800, "in 7 Tagen"],
] as const;
export const createASigner = "Signierer erstellen";
export const theNodeMakesAKey = (who: Value, what: Value) =>
  `Der Knoten erzeugt einen Schlüssel für ${who} und einen Link. Der Schlüssel signiert nichts, bis die Person ihn bestätigt. Danach darf er: ${what}.`;
export const whoeverHasTheLink = "die erste Person, die ihn bestätigt,";
export const onlyFid = (fid: Value) => `fid ${fid}`;
export const nameAndFid = (name: Value, fid: Value) => `${name} (fid ${fid})`;
export const PERMISSION_NAMES = {
  PUBLISH_CAST: "Casts veröffentlichen",
  DELETE_CAST: "Casts löschen",
  PUBLISH_REACTION: "Liken und recasten",
  DELETE_REACTION: "Likes und Recasts zurücknehmen",
  FOLLOW_USER: "Personen folgen",
  UNFOLLOW_USER: "Personen nicht mehr folgen",
  ADD_VERIFICATION: "Verifizierte Adressen hinzufügen",
  REMOVE_VERIFICATION: "Verifizierte Adressen entfernen",
  UPDATE_PROFILE: "Profil ändern",
} as const;
export const chooseAPermission = "Wähle mindestens ein Recht.";
