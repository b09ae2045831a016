"use strict";
// The page of a run that goes on: fetches what changes. The answer is markup of ours, in which all text of drives is escaped.
(() => {
  const place = document.getElementById("live");
  const connection = document.getElementById("connection");
  const wait = 2000;
  const look = async () => {
    try {
      const answer = await fetch(place.dataset.source, { cache: "no-store", credentials: "same-origin" });
      if (!answer.ok) throw new Error(String(answer.status));
      place.innerHTML = await answer.text();
      connection.textContent = "";
    } catch {
      connection.textContent = "drivescope serve does not answer; what stands here is the last that was seen.";
    }
    if (!place.querySelector("[data-ended]")) setTimeout(look, wait);
  };
  if (!place.querySelector("[data-ended]")) setTimeout(look, wait);
})();
