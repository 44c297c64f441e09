import type { Rich, Value } from "../../format.ts";
import { plural } from "../../format.ts";

// call/call-page.tsx
export const runACall = "Run a call";
export const whatThisPageDoes =
  "Choose an operation of the API, fill its form and run it on this node. Nothing runs until you say so.";
export const operation = "Operation";
export const chooseAnOperation = "Choose an operation";
export const theApiHasNoSuchCall = "This node's API does not have the call that this link names.";
export const fullReference = "Full reference";
export const responseTitle = "Response";
export const asCode = "This call as code";
export const runItToSeeItsResponse = "Run the call to see its response here.";

// call/call-form.tsx
export const run = "Run";
export const signAndRun = "Sign and run";
export const fillTheExample = "Fill in the example";
export const clear = "Clear";
export const copyLink = "Copy link";
export const aLinkHasNoSecrets = "The link fills this form for others. It has no secrets and runs nothing.";
export const apiKey = "API key";
export const itStaysInMemory = "It stays in this tab and is not stored.";
export const itsBodyIsSigned = "The body itself is signed: paste a JSON Farcaster Signature.";
export const requiresOneSignature = "Requires one wallet signature.";
export const theSessionSigns = "Your session signs it.";
export const connectFirst = (link: Rich): Rich => [
  "Only an owner may call this. ",
  link,
  "; the form stays.",
];
export const connectAWallet = "Connect a wallet";
export const aStreamDoesNotEnd = (link: Rich): Rich => ["This response never ends. ", link, "."];
export const openTheStream = "Open it on the stream page";
export const theNodeRuns = (method: Value, path: Value, fid: Value) =>
  `The node runs ${method} ${path} for fid ${fid}.`;
export const watchAsAStream = "Watch as a stream";
export const saveAsAWebhook = "Save as a webhook";
export const byDefault = (value: Value) => `default ${value}`;
export const from = (value: Value) => `from ${value}`;
export const upTo = (value: Value) => `up to ${value}`;
export const listOfValues = "separated by spaces or commas";
export const asJson = "JSON";
export const theBody = "Body";
export const notSent = "not sent";
export const optional = "optional";

// call/picker.tsx
export const found = "Found";

// call/form.ts
export const required = "Required.";
export const thisIsNoJson = "This is not JSON yet.";
export const aWholeNumber = "A whole number.";
export const aNumber = "A number.";
export const atLeast = (value: Value) => `At least ${value}.`;
export const atMost = (value: Value) => `At most ${value}.`;
export const charactersAtLeast = (count: number) => `At least ${plural(count, "character")}.`;
export const charactersAtMost = (count: number) => `At most ${plural(count, "character")}.`;
export const itMustMatch = (pattern: Value) => `It must match ${pattern}.`;
export const valuesAtLeast = (count: number) => `At least ${plural(count, "value")}.`;
export const valuesAtMost = (count: number) => `At most ${plural(count, "value")}.`;

// call/response.tsx
export const view = "View of the response";
export const fields = "Fields";
export const raw = "Raw";
export const headers = "Headers";
export const nextPage = "Next page";
export const copyPath = (path: Value) => `Copy the path ${path}`;
export const showMore = (count: Value) => `Show ${count} more`;
export const itemsOf = (count: number) => plural(count, "item");
export const fieldsOf = (count: number) => plural(count, "field");
export const unitsLeft = (units: Value) => `${units} units left this minute`;
export const noBody = "The response has no body.";
export const bodyOfTheResponse = "Body of the response";
export const headersOfTheResponse = "Headers of the response";

// call/saved-list.tsx
export const lastCalls = "Your last calls";
export const onlyInThisBrowser = "Only in this browser. Opening one fills the form and runs nothing.";
export const forgetThem = "Forget them";
export const noResponse = "no response";
