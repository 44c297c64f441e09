import type { MessageData } from "./wire/generated/message.ts";

/** Returns the fids that a response with the message shows besides its author; 0 and repeated fids may be among them. */
export function mentionedFids({ body }: MessageData): number[] {
  switch (body?.$case) {
    case "castAddBody": {
      const { mentions, parent, embeds } = body.value;
      const embedded = embeds.flatMap(({ embed }) => (embed?.$case === "castId" ? [embed.value.fid] : []));
      return [...mentions, ...embedded, ...(parent?.$case === "parentCastId" ? [parent.value.fid] : [])];
    }
    case "reactionBody":
      return body.value.target?.$case === "targetCastId" ? [body.value.target.value.fid] : [];
    case "linkBody":
      return [body.value.target?.value ?? 0];
    default:
      return [];
  }
}
