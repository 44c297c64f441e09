import { plural } from "../../format.ts";

/** What the pages outside of the console show before their scripts run; the node writes it into the document. */

// sign-in/content.ts
export const signIn: string = "Sign in";
export const javaScriptForTheWallet: string = "This page needs JavaScript to talk to your wallet.";
export const noManifestConfirmsTheDomain: string =
  "The app says that it is at this domain. No manifest confirms it.";
export const youSignInOn = (browser: string, opened: string) =>
  `You are about to sign in on the browser that shows this code or link: ${browser}, ${opened}. If that is not yours, close this page.`;
export const minutesLeft = (minutes: number) => `${plural(minutes, "minute")} left.`;
export const withTheApp: string = "With the Farcaster app";
export const qrCode: string = "QR code for the Farcaster app";
export const openTheApp: string = "Open the app on this device";
export const withAWallet: string = "With a wallet in this browser";
export const noKnownBrowser: string = "a program, not a known browser";
export const browserOn = (browser: string, system: string) => `${browser} on ${system}`;
export const openedJustNow: string = "opened less than a minute ago";
export const openedAgo = (minutes: number) => `opened ${plural(minutes, "minute")} ago`;
export const linkIsOver: string = "This link has expired or never existed. Ask the app for a new one.";
export const linkIsUsed: string = "Someone has already signed in with this link.";

// sign-in/login-content.ts
export const itAsksForAKey: string =
  "It learns who you are, and asks for a key to publish, like and follow in your name. You can remove the key at any time.";
export const itGetsNoKey: string = "It learns who you are. It gets no key and can publish nothing.";
export const registeredHereBy = (owner: string) => `registered here by ${owner}`;
export const appIsNotRegistered: string = "This app is not registered here.";
export const addressIsNotRegistered: string = "The app has not registered this address.";

// approve-routes.ts
export const approveAnApp: string = "Approve an app";
export const mayItActForYou: string = "May this app act for you?";
export const anAppWithoutAName: string = "An app without a name";
export const itChoseItsName: string =
  "The app chose this name itself. It is not verified: continue only if the app brought you here.";
export const inYourNameItMay: string = "In your name it may";
export const signInAsYou: string = "sign in as you, with this address";
/** What each permission allows an app to do. */
export const PERMISSIONS: Readonly<Record<string, readonly string[]>> = {
  WRITE_ALL: [
    "publish and delete casts",
    "like and recast",
    "follow and unfollow",
    "add and remove verified addresses",
    "change your profile",
  ],
  PUBLISH_CAST: ["publish casts"],
  DELETE_CAST: ["delete casts"],
  PUBLISH_REACTION: ["like and recast"],
  DELETE_REACTION: ["remove likes and recasts"],
  FOLLOW_USER: ["follow users"],
  UNFOLLOW_USER: ["unfollow users"],
  ADD_VERIFICATION: ["add verified addresses"],
  REMOVE_VERIFICATION: ["remove verified addresses"],
  UPDATE_PROFILE: ["change your profile"],
};
export const until: string = "Until";
export const untilTheKeyIsRemoved: string = "You remove its key from the chain.";
export const untilUnusedFor = (time: string) => `${time} after last use, or until you remove its key.`;
export const days = (count: number) => plural(count, "day");
export const seconds = (count: number) => plural(count, "second");
export const onlyFor: string = "Only for";
export const theAddress: string = "The address";
export const itsKey: string = "Its key";
export const approvalLinkIsOver: string = "This approval link has expired. Ask the app for a new one.";
