import type { Rich, Value } from "../../format.ts";
import { plural } from "../../format.ts";

// manage/apps/scheduled.tsx
export const scheduledSends = "Scheduled sends";
export const nothingIsScheduled = (link: Rich): Rich => ["Nothing is scheduled. ", link, "."];
export const scheduleASend = "Schedule a send";
export const notification = "Notification";
export const state = "State";
export const when = "When";
export const cancel = "Cancel";
export const states = {
  due: "Due",
  sent: "Sent",
  held: "Held",
  missed: "Missed",
  cancelled: "Cancelled",
} as const;
export const heldBecause = {
  custody_moved: "another address owns the fid now",
  app_deleted: "the app was deleted",
  app_url_changed: "the app moved to another host",
} as const;
export const sentOf = (sent: number, all: number) => `${sent} of ${plural(all, "part")} sent`;
export const onEachClock = (time: Value) => `${time} on each person's clock`;
export const variants = (count: number) => plural(count, "text");
export const theNodeCancels = (title: Value) =>
  `The node cancels the parts of “${title}” that are not sent yet.`;
export const cancelled = "Cancelled";

// manage/apps/schedule-page.tsx
export const scheduledSend = "Scheduled send";
export const results = "Results";
export const parts = "Parts";
export const text = "Text";
export const winner = "The text that did best";
export const noSuchSend = "No such send. Sends are retained for 30 days.";

// manage/apps/send/schedule-fields.tsx
export const time = "Time";
export const now = "Now";
export const atATime = "At a time";
export const onTheirClock = "At a time on each person's clock";
export const inYourZone = (zone: Value) => `In your time zone, ${zone}. At most 30 days ahead.`;
export const onAQuarter = "On a quarter hour that is still ahead in every time zone.";
export const quietFrom = "Quiet from";
export const quietTo = "Quiet to";
export const notBeforeTheEnd = "They get it when quiet hours end.";
export const onQuarter = "On a quarter hour.";
export const timesMissing = "Set both times or neither.";
export const aTimeAhead = "A time in the future, at most 30 days ahead.";
export const onAQuarterHour = "A quarter hour, such as 07:15.";
export const options = "More options";
export const secondTitle = "Second title";
export const secondText = "Second text";
export const compareTwoTexts = "Compare two versions";
export const halfGetsIt = "Half of the people get the second one. The results compare both.";
export const oneOfBothDiffers = "Type what differs: the title, the text or both.";
export const countOpens = "Count opens";
export const linksGetAParameter =
  "Links get a parameter that names the campaign, never a person. The app reports it.";
export const segment = "Segment";
export const noSegment = "Everyone";

// manage/apps/send/drafts.tsx
export const drafts = "Drafts";
export const saveDraft = "Save draft";
export const draftSaved = "Draft saved";
export const noDrafts = "No drafts. They are stored on the node, for all your devices.";
export const open = "Open";
export const deleteIt = "Delete";
export const untitled = "Untitled";
export const theNodeStoresTheDraft = "The node stores this send as a draft. Nothing is sent.";
export const theNodeDeletesTheDraft = "The node deletes this draft.";

// manage/apps/segments.tsx
export const segments = "Segments";
export const newSegment = "New segment";
export const saveSegment = "Save segment";
export const chooseAPerson = "Choose one person.";
export const nameItFirst = "Name it first.";
export const setACondition = "Set at least one condition.";
export const segmentSaved = "Segment saved";
export const name = "Name";
export const conditions = "Conditions";
export const noSegments = "No segments. A segment is a filter that sends can use by name.";
export const allConditionsHold = "People who meet all conditions. Leave out what does not matter.";
export const addedAfter = "Added the app after";
export const addedBefore = "Added the app until";
export const following = "Followers of";
export const fidsOfPeople = "Their fids, separated by spaces or commas";
export const channel = "Members of channel";
export const channelId = "Its id, such as bread";
export const openedWithin = "Opened within (days)";
export const notOpenedWithin = "Opened nothing for (days)";
export const days = "1 to 30";
export const client = "In these clients";
export const fidsOfClients = "Fids of client apps";
export const people = "Among these people";
export const theNodeStoresTheSegment = "The node stores this filter. Nothing is sent.";
export const theNodeDeletesTheSegment =
  "The node deletes this filter. Scheduled sends keep their conditions.";
export const changedAt = "Changed";
export const whoGotIt = "Who got it";
export const actions = "Actions";
export const editIt = "Edit";
export const editSegment = "Edit segment";
export const stopEditing = "Cancel";
export const scheduledSendsKeepIt = "Scheduled sends keep the conditions they were signed with.";
export const inZones = (zones: Value) => `In time zones: ${zones}`;
export const oneOfBoth = "Only one of the two.";
export const atMost30 = "At most 30.";

// manage/apps/open-results.tsx
export const opens = "Opens";
export const opened = "Opened";
export const verified = "Verified";
export const goals = "Goals";
export const medianMinutes = "Median minutes";
export const turnedOff = "Turned off in 24 h";
export const opensByClient = "Opens by client";
export const opensByText = "Opens by text";
export const noClearDifference = "No clear difference yet. It takes 100 opens of each text.";
export const isLikelyBetter = (title: Rich): Rich => [title, " is likely better (95 %)."];
export const clientApp = "Client";
export const delivered = "Delivered";
export const noOpensYet =
  "No opens yet. The app reports them for sends that track opens; clients never report that a notification was seen.";
