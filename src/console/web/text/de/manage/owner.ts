import type { Rich, Value } from "../../format.ts";

export const noWalletWasFoundInThis =
  "In diesem Browser wurde keine Wallet gefunden. Öffne diese Seite in dem Browser oder in der Wallet-App mit deiner Custody-Adresse.";
export const nothingWasSigned = "es wurde nichts signiert";
export const theWalletFailed = "die Wallet meldet einen Fehler";
export const doneTheAppMayActFor = (fid: Value) =>
  `Fertig. Die App darf für fid ${fid} handeln. Du kannst diese Seite schließen.`;
export const signedTheNetworkHasNotConfirmed = (fid: Value) =>
  `Signiert. Das Netz hat den Schlüssel für fid ${fid} noch nicht bestätigt; die App sieht ihn, sobald es das tut. Du kannst diese Seite schließen.`;
export const theAppHasBeenApproved = "Die App wurde bestätigt.";
export const waitingForTheWallet = "Warten auf die Wallet …";
export const theWalletGaveNoAddress = "Die Wallet nannte keine Adresse.";
export const sending = "Wird gesendet …";
export const connect = (more: Rich, name: Rich): Rich => [more, "Verbinden: ", name];
export const backToTheApp = "Zurück zur App";
export const youApproveThisAppAsFid = (fid: Rich, address: Rich, part: Rich): Rich => [
  "Du bestätigst diese App als fid ",
  fid,
  ", mit ",
  address,
  ". ",
  part,
  "Es kostet nichts.",
];
export const youAddThisKeyAsFid = (fid: Rich, address: Rich): Rich => [
  "Du fügst diesen Schlüssel on-chain als fid ",
  fid,
  " hinzu, mit ",
  address,
  ". Deine Wallet sendet eine Transaktion auf OP Mainnet und zahlt dafür die Gasgebühr.",
];
export const sentTheAppWillSeeTheKey = (fid: Value) =>
  `Gesendet. Die App sieht den Schlüssel von fid ${fid}, sobald das Netz die Transaktion hat. Du kannst diese Seite schließen.`;
export const send = "Senden";
export const theWalletAsksTwice = "Die Wallet fragt zweimal. ";
export const sign = "Signieren";
export const useAnotherWallet = "Andere Wallet verwenden";
export const thisIsADemoNetworkSign =
  "Dies ist ein Demo-Netz. Signiere ohne Wallet als eine seiner Personen, deren Schlüssel öffentlich sind.";
export const personByFid = "Person, nach fid";
export const signAsThisPerson = "Als diese Person signieren";

export const browser = "Browser";
export const theWalletShowsNoAccountNothing = "Die Wallet zeigt kein Konto. Es wurde nichts gesendet.";
export const isNotTheCustodyAddressOf = (first: Value) =>
  `${first} ist nicht die Custody-Adresse einer fid, die dieser Knoten kennt. Wähle in der Wallet ein anderes Konto. Es wurde nichts gesendet.`;
export const theAccountInYourWalletChanged =
  "Das Konto in deiner Wallet wurde gewechselt, und der Knoten hat nicht gesagt, wem es gehört.";
export const yourWalletNoLongerShowsThis = "Deine Wallet zeigt dieser Seite kein Konto mehr.";
export const yourWalletChangedToAnotherAccount = (fid: Value) =>
  `Deine Wallet hat das Konto gewechselt: Das ist jetzt fid ${fid}.`;
export const yourWalletChangedToWhichIs = (first: Value) =>
  `Deine Wallet hat zu ${first} gewechselt; das ist nicht die Custody-Adresse einer fid, die dieser Knoten kennt.`;
export const on = (browser: Value, system: Value) => `${browser} auf ${system}`;
export const startASession = "Sitzung starten";
export const aKeyOfThisBrowserMay = (part: Value, fid: Value) =>
  `Ein Schlüssel dieses Browsers darf einige Stunden lang für fid ${fid} ${part}. Alles andere braucht weiterhin deine Wallet.`;
export const readTestReplayAndEnableAnd = "lesen, testen, wiederholen und Webhooks ein- und ausschalten";

export const theAccountInYourWasSent =
  "Das Konto in deiner Wallet wurde gewechselt. Es wurde nichts gesendet.";
export const yourWalletShowsTheseLinesCompare =
  "Deine Wallet zeigt diese Zeilen. Vergleiche sie, bevor du signierst.";
export const confirmInYourWallet = "Bestätige in deiner Wallet.";
export const signedSendingTheRequest = "Signiert. Die Anfrage wird gesendet.";
export const canceled = "Abgebrochen.";
export const youClosedTheConfirmationNothingWas =
  "Du hast die Bestätigung geschlossen. Es wurde nichts gesendet.";
export const confirmWithYourWallet = "Mit der Wallet bestätigen";
export const typeToConfirm = (typedName: Value) => `Gib zum Bestätigen ${typedName} ein`;
export const custodyKeyOnAnotherDevice = "Custody-Schlüssel auf einem anderen Gerät";
export const theSameRequest = "Dieselbe Anfrage";
export const cancel = "Abbrechen";
export const signInTheWallet = "In der Wallet signieren";
export const tryAgain = "Erneut versuchen";

export const withoutASessionEachRequestRequires = "Ohne Sitzung erfordert jede Anfrage eine Wallet-Signatur.";
export const signAndShow = "Signieren und anzeigen";
export const startASessionOrSignFor = "Starte eine Sitzung oder signiere nur dies.";

export const fid = (fid: Rich): Rich => ["fid ", fid];
export const connectYourWallet = "Verbinde deine Wallet";
export const miniAppsWebhooksKeysAndSigners =
  "Mini-Apps, Webhooks, Schlüssel und Signierer gehören zu einer fid. Ihre Custody-Adresse verwaltet sie: kein Konto, kein Passwort. Beim Verbinden sieht diese Seite deine Adresse; signiert wird nichts.";
export const thisBrowserHasNoWalletWithout =
  "Dieser Browser hat keine Wallet. „Keine Wallet in diesem Browser?“ nennt andere Wege.";
export const yourAccountsOwnSeveralFidsWhich = "Deinen Konten gehören mehrere fids. Welche soll es sein?";
export const withoutAWalletHere = "Keine Wallet in diesem Browser?";
export const tryItAsADemoPerson = "Als Demo-Person ausprobieren";
export const thisNodeIsADemoNetwork =
  "Dieser Knoten ist ein Demo-Netz: Wähle „Wallet einer Demo-Person“ in der Liste, um als eine seiner Personen zu handeln.";
export const aNodeStartedWithLendsYou = (code: Rich): Rich => [
  "Ein Knoten, der mit ",
  code,
  " gestartet wurde, leiht dir die Wallets erfundener Personen: Probiere alles in zwei Minuten aus.",
];
export const useTheCommandLineWhereYour = "Auf der Befehlszeile mit einer Schlüsseldatei signieren";
export const everythingHereIsACommandAs =
  "Alles hier gibt es auch als Befehl. Er signiert mit einer Schlüsseldatei auf deinem eigenen Rechner:";
export const myCustodyAddressIsInsideA = "Meine Custody-Adresse liegt in einer Farcaster-App";
export const mostAppsMakeTheCustodyAddress =
  "Die meisten Apps erzeugen die Custody-Adresse für dich und zeigen ihre Wiederherstellungsphrase in den Einstellungen, etwa unter „recovery phrase“ oder „advanced“. Eine Wallet, die diese Phrase importiert, hat ab dann deine Custody-Adresse. Wer die Phrase hat, dem gehört deine fid: Importiere sie in eine Wallet, der du vertraust, und nie in eine Webseite.";
export const soEachRequestAsksYourWallet = (reason: Rich): Rich => [
  reason,
  " Deshalb braucht jede Anfrage deine Wallet.",
];
export const yourSessionHasEnded = "Deine Sitzung ist beendet";
export const signInOnce = "Einmal anmelden";
export const yourWalletSignsOnceForA =
  "Deine Wallet signiert einmal und autorisiert damit einen Schlüssel in diesem Browser. Einige Stunden lang laden diese Seiten dann deine Daten, ohne erneut zu fragen. Der Schlüssel kann keine Geheimnisse lesen. Erstellen, Senden, Löschen und Aufdecken fragen weiter deine Wallet.";
export const alsoTestWebhooksReplayDeliveries =
  "Auch Webhooks testen, Zustellungen wiederholen und Webhooks ein- und ausschalten";
export const startASessionAgain = "Neue Sitzung starten";
export const oneWalletSignature = "Eine Wallet-Signatur.";

export const nothingWasSent = "Es wurde nichts gesendet.";
export const youDeclinedInTheWallet = (nothing: Value) => `Du hast in der Wallet abgelehnt. ${nothing}`;
export const noReasonGiven = "ohne Angabe eines Grundes";
export const theWalletDidNotSign = (message: Value, nothing: Value) =>
  `Die Wallet hat nicht signiert: ${message}. ${nothing}`;
export const theAccountOfYourWalletIs = (current: Value) => `Das Konto deiner Wallet ist ${current}`;
export const yourWalletShowsNoAccount = "Deine Wallet zeigt kein Konto";
export const butFidBelongsToChooseThat = (instead: Value, fid: Value, address: Value, nothing: Value) =>
  `${instead}, aber fid ${fid} gehört ${address}. Wähle dieses Konto in der Wallet. ${nothing}`;
export const yourWalletDoesNotKnowOp = (chainId: Value, nothing: Value) =>
  `Deine Wallet kennt OP Mainnet (Chain ${chainId}) nicht, das Custody-Signaturen brauchen. Füge es in der Wallet hinzu und versuche es erneut. ${nothing}`;
export const yourWalletIsOnAnotherNetwork = (chainId: Value, nothing: Value) =>
  `Deine Wallet ist in einem anderen Netz und hat nicht zu OP Mainnet (Chain ${chainId}) gewechselt. Wähle es in der Wallet und versuche es erneut. ${nothing}`;
export const thisBrowserNoLongerHas = (walletName: Value, nothing: Value) =>
  `Dieser Browser hat ${walletName} nicht mehr. ${nothing}`;
export const theWalletReturnedTheSignatureOf = (nothing: Value) =>
  `Die Wallet gab die Signatur eines Vertragskontos zurück. Der Knoten prüft nur Signaturen von Schlüsseln. ${nothing}`;

export const wallet = "Wallet";
export const theWalletOfThisBrowser = "Die Wallet dieses Browsers";
