import { plural } from "../../format.ts";

export const signIn: string = "Anmelden";
export const javaScriptForTheWallet: string =
  "Diese Seite braucht JavaScript, um mit deiner Wallet zu sprechen.";
export const noManifestConfirmsTheDomain: string =
  "Die App gibt diese Domain als ihre an. Kein Manifest bestätigt das.";
export const youSignInOn = (browser: string, opened: string) =>
  `Du meldest dich in dem Browser an, der diesen Code oder Link zeigt: ${browser}, ${opened}. Ist das nicht deiner, schließe diese Seite.`;
export const minutesLeft = (minutes: number) => `Noch ${plural(minutes, "Minute", "Minuten")}.`;
export const withTheApp: string = "Mit der Farcaster-App";
export const qrCode: string = "QR-Code für die Farcaster-App";
export const openTheApp: string = "App auf diesem Gerät öffnen";
export const withAWallet: string = "Mit einer Wallet in diesem Browser";
export const noKnownBrowser: string = "ein Programm, kein bekannter Browser";
export const browserOn = (browser: string, system: string) => `${browser} auf ${system}`;
export const openedJustNow: string = "vor weniger als einer Minute geöffnet";
export const openedAgo = (minutes: number) => `vor ${plural(minutes, "Minute", "Minuten")} geöffnet`;
export const linkIsOver: string =
  "Dieser Link gilt nicht mehr, oder es gab ihn nie. Lass dir von der App einen neuen geben.";
export const linkIsUsed: string = "Über diesen Link hat sich schon jemand angemeldet.";

export const itAsksForAKey: string =
  "Sie erfährt, wer du bist, und bittet um einen Schlüssel, um in deinem Namen zu casten, zu liken und zu folgen. Du kannst den Schlüssel jederzeit entfernen.";
export const itGetsNoKey: string =
  "Sie erfährt, wer du bist. Sie bekommt keinen Schlüssel und kann nichts veröffentlichen.";
export const registeredHereBy = (owner: string) => `hier registriert von ${owner}`;
export const appIsNotRegistered: string = "Diese App ist hier nicht registriert.";
export const addressIsNotRegistered: string = "Diese Adresse hat die App nicht registriert.";

export const approveAnApp: string = "App bestätigen";
export const mayItActForYou: string = "Darf diese App für dich handeln?";
export const anAppWithoutAName: string = "Eine App ohne Namen";
export const itChoseItsName: string =
  "Diesen Namen hat die App selbst gewählt. Er ist nicht geprüft: Mach nur weiter, wenn du aus der App hierher kamst.";
export const inYourNameItMay: string = "In deinem Namen darf sie";
export const signInAsYou: string = "sich als du anmelden, mit dieser Adresse";
export const PERMISSIONS: Readonly<Record<string, readonly string[]>> = {
  WRITE_ALL: [
    "Casts veröffentlichen und löschen",
    "liken und recasten",
    "folgen und nicht mehr folgen",
    "verifizierte Adressen hinzufügen und entfernen",
    "dein Profil ändern",
  ],
  PUBLISH_CAST: ["Casts veröffentlichen"],
  DELETE_CAST: ["Casts löschen"],
  PUBLISH_REACTION: ["liken und recasten"],
  DELETE_REACTION: ["Likes und Recasts zurücknehmen"],
  FOLLOW_USER: ["Personen folgen"],
  UNFOLLOW_USER: ["Personen nicht mehr folgen"],
  ADD_VERIFICATION: ["verifizierte Adressen hinzufügen"],
  REMOVE_VERIFICATION: ["verifizierte Adressen entfernen"],
  UPDATE_PROFILE: ["dein Profil ändern"],
};
export const until: string = "Dauer";
export const untilTheKeyIsRemoved: string = "Bis du ihren Schlüssel von der Chain entfernst.";
export const untilUnusedFor = (time: string) =>
  `Bis ${time} nach der letzten Nutzung, oder bis du ihren Schlüssel entfernst.`;
export const days = (count: number) => plural(count, "Tag", "Tage");
export const seconds = (count: number) => plural(count, "Sekunde", "Sekunden");
export const onlyFor: string = "Nur für";
export const theAddress: string = "Die Adresse";
export const itsKey: string = "Ihr Schlüssel";
export const approvalLinkIsOver: string =
  "Dieser Link zur Bestätigung gilt nicht mehr. Lass dir von der App einen neuen geben.";
