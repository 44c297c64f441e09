import type { Rich, Value } from "../../format.ts";

export const whoSignedIn = "die App erfährt, wer sich angemeldet hat";
export const alsoASignerOfYours =
  "Besucher bestätigen auch einen Signierer von dir, mit dem die App für sie schreiben darf";
export const name = "Name";
export const visitorsSeeIt = "Besucher sehen ihn auf der Anmeldeseite.";
export const origins = "Origins";
export const whereYourButtonIs =
  "Die Origins der Seiten mit deinem Button, einer pro Zeile: Nur sie bekommen ein Ergebnis.";
export const redirectUris = "Redirect-URIs";
export const urlsThatACodeMayLeadTo = "URLs, zu denen ein Code oder ein Deeplink führen darf. Leer: keine.";
export const clientId = "Client-Kennung";
export const theIdOfYourButton = "Die deines Buttons, wenn er schon eine hat. Leer: eine neue.";
export const isNotAnOrigin = (text: Value) => `„${text}“ ist kein Origin wie https://app.example.`;
export const aClientIdIsAUuid = "Eine UUID oder leer.";

export const permissions = "Rechte";
export const created = "Erstellt";
export const thisNodeHasNoSigners =
  "Dieser Knoten hat gerade keine verwalteten Signierer: Besucher können keinen bestätigen.";
export const registerALoginClient = "Anmelde-Client registrieren";
export const visitorsOfMaySignIn = (origins: Value, name: Value) =>
  `Besucher von ${origins} dürfen sich über die Anmeldeseite dieses Knotens anmelden. Sie zeigt ihnen den Namen „${name}“.`;
export const newLoginClient = "Neuer Anmelde-Client";
export const signAndRegister = "Signieren und registrieren";
export const off = "aus";
export const webSignInIsOff = "Die Anmeldung auf Seiten dieses Knotens ist abgeschaltet";
export const theOperatorTurnsItOnBy = (setting: Rich): Rich => [
  "Der Betreiber schaltet sie ein mit ",
  setting,
  ".",
];
export const yourLoginClients = "Deine Anmelde-Clients";
export const noLoginClientsYet =
  "Noch keine Anmelde-Clients. Registriere eine App, deren Besucher sich mit Farcaster anmelden: mit dem Button der gehosteten Anmeldung oder über einen Link.";
export const loginClients = "Anmelde-Clients";
export const tryASignIn = "Anmeldung ausprobieren";

export const theButtonOfYourPage = "Der Button deiner Seite";
export const aPageThatHasTheButton =
  "Eine Seite mit dem Button der gehosteten Anmeldung ändert ein Attribut. Der Rest bleibt.";
export const theWholeButton = "Der ganze Button";
export const orOpenThePageItself = (link: Rich): Rich => ["Oder öffne die Anmeldeseite selbst: ", link];
export const visitors = "Besucher";
export const changed = "Geändert";
export const changeTheLoginClient = "Anmelde-Client ändern";
export const ofWillChange = (fields: Value, name: Value) => `${fields} von „${name}“ ändert sich sofort.`;
export const settings = "Einstellungen";
export const signAndSave = "Signieren und speichern";
export const loginClient = "Anmelde-Client";
export const deleteTheLoginClient = "Anmelde-Client löschen";
export const noVisitorOfMaySignIn = (name: Value) =>
  `Kein Besucher von „${name}“ kann sich mehr über diesen Knoten anmelden. Bestätigte Signierer bleiben.`;
export const itsButtonStopsAtOnce =
  "Sein Button funktioniert sofort nicht mehr. Bestätigte Signierer bleiben; sie sind auf der Seite der Signierer.";

export const tryItHere =
  "Jeder Schritt einer Anmeldung an diesem Knoten, mit dem Grund einer Ablehnung. Gespeichert wird nur die benutzte Nonce.";

export const quickAuth = "Quick Auth";
export const whatMiniAppsDo =
  "Was eine Mini-App und ihr Server tun: eine Nonce, eine Nachricht, die eine Wallet signiert, ein Token und seine Prüfung.";
export const domain = "Domain";
export const theDomainOfYourApp = "Die Domain deiner App, die Nachricht und Anfrage nennen.";
export const fid = "Fid";
export const ofTheAddress = "Die fid, deren Custody- oder Auth-Adresse in deiner Wallet ist.";
export const signInWith = (wallet: Value) => `Anmelden: ${wallet}`;
export const noWallet =
  "Dieser Browser hat keine Wallet. Öffne diese Seite in dem Browser mit deiner Custody- oder Auth-Adresse.";
export const message = "Nachricht";
export const changeItToSeeARefusal = "Ändere eine Zeile und sieh, wie der Knoten sie ablehnt.";
export const acceptAuthAddresses = "Auth-Adressen der fid annehmen";
export const signAndSend = "Signieren und senden";
export const sendTheSameAgain = "Dasselbe noch einmal senden";
export const theWallet = "Wallet";
export const theNonce = "Nonce";
export const theSignature = "Signatur";
export const theToken = "Token";
export const theTokensClaims = "Prüfung des Tokens";
export const theWalletShowsNoAccount = "die Wallet zeigt kein Konto";
export const done = "fertig";
export const refused = "abgelehnt";

export const webSignIn = "Web-Anmeldung";
export const whatWebsitesDo =
  "Was eine Website mit AuthKit tut: Sie öffnet einen Kanal, zeigt seinen Link und fragt, bis sich dort jemand angemeldet hat.";
export const openAChannel = "Kanal öffnen";
export const theChannel = "Kanal";
export const theApproval = "Bestätigung";
export const openThePageAndSignIn = "Öffne diese Seite und melde dich dort an; diese Seite bemerkt es.";
export const waiting = "wartet";
export const theChannelIsOver =
  "der Kanal ist beendet: Niemand hat sich angemeldet, oder jemand anderes hat das Ergebnis bekommen";
export const nothingHasChanged = "Es hat sich nichts geändert.";
