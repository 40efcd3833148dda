// The secret part of a link is its fragment, which browsers send nowhere: this sends it, and takes it out of the history.
"use strict";
const token = location.hash.slice(1);
if (token) {
  history.replaceState(null, "", location.pathname);
  document.getElementById("token").value = token;
  document.getElementById("enter").submit();
}
