export const theNodeShowsWhatBelongsToYou = "Der Knoten zeigt, was zu deiner fid gehört. Nichts ändert sich.";
export const thisBrowserCannotCreateAKey =
  "Dieser Browser kann keinen Schlüssel erzeugen (Ed25519). Nichts wurde gesendet.";
