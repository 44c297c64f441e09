export const theNodeShowsWhatBelongsToYou =
  "Der Knoten zeigt, was zu deiner fid gehört. Es ändert sich nichts.";
export const thisBrowserCannotCreateAKey =
  "Dieser Browser kann keinen Schlüssel erzeugen (Ed25519). Es wurde nichts gesendet.";
