import type { Rich, Value } from "../../format.ts";

// operator/push.ts
export const pushIsOff = "The setting notify.push_hosts is empty, so this node sends nothing to browsers.";
export const pushNeedsHttps =
  "Browsers only show notices from pages on https, localhost or 127.0.0.1. Open the page at its https address.";
export const pushNeedsHomeScreen =
  "On iOS 16.4 and later, add this page to the Home Screen and open it there.";
export const pushIsMissing = "This browser does not support push messages.";
export const pushIsBlocked = "Notifications from this page are blocked in the browser's settings.";
export const pushServiceFailed = (reason: Value) =>
  `the push service of this browser could not be used: ${reason}`;

// operator/notices.tsx
export const notices = "Notices";
export const whatNoticesAre =
  "Notifies you when an incident opens and when it is resolved, once across all nodes, and every four hours until someone acknowledges it. At most 20 notices an hour. The node and the browser need the internet.";
export const whatNoticesOfOwnersAre =
  "Notifies you when one of your webhooks fails or is disabled, an API key or a signer is about to expire, or a scheduled send was not sent. At most 20 notices an hour. The node and the browser need the internet.";
export const noChannels = "No channels yet.";
export const channel = "Channel";
export const goesTo = "Goes to";
export const from = "From";
export const lastCall = "Last call";
export const actions = "Actions";
export const browser = "browser";
export const hook = "hook";
export const FROM = { critical: "Critical", warning: "Warning and above", notice: "All" } as const;
export const quietFor = (hours: Rich): Rich => [", quiet ", hours];
export const taken = "delivered";
export const notTaken = "failed";
export const sendATest = "Send a test";
export const edit = "Edit";
export const editChannel = (label: Rich): Rich => ["Edit ", label];
export const save = "Save";
export const cancel = "Cancel";
export const changed = "Changed.";
export const remove = "Remove";
export const theTestIsOnItsWay = "The test is on its way.";
export const removed = "Removed.";
export const addAChannel = "Add a channel";
export const name = "Name";
export const myPhone = "my phone";
export const severity = "Severity";
export const kinds = (which: Value) => `Kinds of incident: ${which}`;
export const allKinds = "all";
export const someKinds = (chosen: Value, all: Value) => `${chosen} of ${all}`;
export const kindsHint = "None chosen: all.";
export const onlyKinds = (titles: Rich): Rich => [", only ", titles];
export const quietHours = "Quiet hours";
export const quietHoursHint = (zone: Value) =>
  `Such as 22:00-07:00, in ${zone}. Critical notices are sent anyway.`;
export const notifyThisBrowser = "Notify this browser";
export const thisBrowserIsSubscribed = "This browser is subscribed.";
export const orCallAHook = "Or call a URL";
export const url = "URL";
export const kindOfHook = "Format";
export const PRESETS = {
  json: "JSON, signed like webhooks",
  slack: "Slack",
  discord: "Discord",
  ntfy: "ntfy",
  telegram: "Telegram",
} as const;
export const chatId = "Chat id";
export const addHook = "Add hook";
export const theHookIsAdded = "The hook was added.";
export const theSecretOfTheHook = "The secret that verifies its signatures. It is shown once:";
export const nameItFirst = "Give it a name first.";
export const aHookNeedsAUrl = "Enter a URL.";

// manage/notices.tsx
export const open = "Open";
export const noIncidentsOfYours = "No incidents.";
export const theNodeWillTell = (target: Value) =>
  `The node will send notices of your incidents to ${target}.`;
export const theChannelWillChange = (label: Value) => `What ${label} gets will change.`;
export const theChannelGetsNothingMore = (label: Value) => `${label} gets no more notices.`;
export const theChannelGetsATest = (label: Value) => `${label} gets a test.`;
export const itsRemindersEnd = (title: Value) =>
  `Reminders about “${title}” stop. It stays open until it is resolved.`;
export const itsRemindersHaveEnded = "Reminders about it have stopped.";
