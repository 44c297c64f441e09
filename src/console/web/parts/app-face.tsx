import { Face } from "./face.tsx";

/** A number from the id, for the colour of the icon. */
function hueOf(appId: string): number {
  let sum = 0;
  for (const char of appId) sum = (sum * 31 + (char.codePointAt(0) ?? 0)) % 9973;
  return sum;
}

/** The icon of an app: the first letter of its name. */
export function AppFace({ appId, name, size }: { appId: string; name: string; size?: number }) {
  return (
    <Face
      user={{ fid: hueOf(appId), username: name, display_name: name }}
      {...(size !== undefined && { size })}
    />
  );
}
