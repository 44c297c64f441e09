import type { Value } from "../../format.ts";

export const noWalletWasFound =
  "In diesem Browser ist keine Wallet zu finden. Öffne diese Seite in dem Browser oder der Wallet-App mit deiner Custody-Adresse oder einer Auth-Adresse.";
export const waitingForTheWallet = "Warten auf die Wallet …";
export const waitingForTheKey = "Warten auf den Schlüssel, den die App verlangt …";
export const thisAddressMaySignInAsNobody =
  "diese Adresse ist bei keiner Person, die dieser Knoten kennt, Custody- oder Auth-Adresse";
export const sending = "Wird gesendet …";
export const fid = (fid: Value) => `fid ${fid}`;
export const nameAndFid = (username: Value, fid: Value) => `@${username} (fid ${fid})`;
export const signInAs = (name: Value) => `Anmelden als ${name}`;
export const iOpenedThisSignInAs = (name: Value) => `Ich habe das selbst geöffnet: anmelden als ${name}`;
export const iOpenedThisSignIn = "Ich habe das selbst geöffnet: anmelden";
export const pressAgainIfYouOpened =
  "Diese Domain hat kein Manifest, deshalb weiß der Knoten nicht, wem sie gehört. Drücke nur dann noch einmal, wenn du diese Seite selbst aus der App geöffnet hast.";
export const theDomainBelongsTo = (name: Value) => `Das Manifest dieser Domain gehört ${name}.`;
export const signedInAs = (name: Value) => `Angemeldet als ${name}.`;
export const youCanCloseThisPage = "Du kannst diese Seite schließen.";
export const backToTheApp = "Zurück zur App";
export const thisIsADemoNetwork =
  "Dies ist ein Demo-Netz. Melde dich ohne Wallet als eine seiner Personen an, deren Schlüssel öffentlich sind.";
export const signInAsThisPerson = "Als diese Person anmelden";
