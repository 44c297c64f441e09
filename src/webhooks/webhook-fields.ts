import { description, NAME, type RecordFields } from "../management/record-fields.ts";

/** The fields that the owner of a webhook sets, except for its subscription. */
export const WEBHOOK_FIELDS = {
  name: { ...NAME, member: "title" },
  url: {
    type: "url",
    description: "Receiver of the events: https, on a public host",
    help: "https URL of the receiver",
    isRequired: true,
    flag: "target-url",
    member: "targetUrl",
  },
  description: description("what it is for"),
  active: {
    type: "boolean",
    description: 'Also accepted as "true" and "false"',
    help: "resume deliveries",
    offHelp: "pause deliveries; queued ones wait",
    isForUpdate: true,
    acceptsText: true,
  },
} as const satisfies RecordFields;
