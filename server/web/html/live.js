(function () {
  "use strict";

  // Times are in UTC without a script. Here they become the reader's own, with UTC in the title.
  function local(date) {
    var two = function (n) { return (n < 10 ? "0" : "") + n; }, zone = "";
    try {
      new Intl.DateTimeFormat("en-US", {timeZoneName: "short"}).formatToParts(date).forEach(function (part) { if (part.type === "timeZoneName") zone = " " + part.value; });
    } catch (e) { return ""; }
    return date.getFullYear() + "-" + two(date.getMonth() + 1) + "-" + two(date.getDate()) + " " + two(date.getHours()) + ":" + two(date.getMinutes()) + ":" + two(date.getSeconds()) + zone;
  }
  var times = document.querySelectorAll("time[datetime]");
  for (var i = 0; i < times.length; i++) {
    var t = times[i], date = new Date(t.getAttribute("datetime")), own = isNaN(date) ? "" : local(date);
    if (!own) continue;
    if (t.title) t.title = own + " (" + t.title + ")";
    else {
      t.title = t.textContent;
      t.textContent = own;
    }
  }

  var body = document.body, watch = body.getAttribute("data-watch"), stale = document.getElementById("stale");
  if (!watch || !stale || !window.EventSource) return;
  var changed = false, timer = 0, last = Date.now(), left = 0;

  // busy is true while a reload would take something away from the reader: typed text, an opened part, the place of the keyboard.
  function busy() {
    var fields = document.querySelectorAll("main input, main textarea, main select");
    for (var i = 0; i < fields.length; i++) {
      var f = fields[i];
      if (f.tagName === "SELECT") {
        for (var j = 0; j < f.options.length; j++) if (f.options[j].selected !== f.options[j].defaultSelected && (f.options[j].selected ? j > 0 : true)) return true;
      } else if (f.type !== "hidden" && f.value !== f.defaultValue) return true;
    }
    if (document.querySelector("details[open]")) return true;
    var at = document.activeElement;
    return !!at && at !== body && at.id !== "main" && document.getElementById("main").contains(at);
  }
  function look() {
    timer = 0;
    if (!changed || document.hidden) return;
    // The reader has followed a link or sent a form, which a reload would undo. A download leaves the page where it is.
    if (Date.now() - left < 10000) { timer = setTimeout(look, 1000); return; }
    if (busy()) { stale.hidden = false; return; }
    location.reload();
  }
  function soon() {
    changed = true;
    if (!timer) timer = setTimeout(look, Math.max(200, 1500 - (Date.now() - last)));
  }
  function told(event) {
    var ids = event.data.split("\n");
    if (watch === "*" || ids.indexOf("*") >= 0 || watch.split(" ").some(function (id) { return ids.indexOf(id) >= 0; })) soon();
  }
  // A browser keeps few connections to one address: a page that nobody sees holds none. Listening anew tells all since it was made.
  var source = null;
  function deaf() {
    if (source) source.close();
    source = null;
  }
  function listen() {
    if (source || document.hidden) return;
    source = new EventSource("/live?since=" + encodeURIComponent(body.getAttribute("data-since") || ""));
    source.onmessage = told;
    source.onerror = function () { if (source && source.readyState === 2) stale.hidden = false; };
  }
  document.addEventListener("visibilitychange", function () {
    if (document.hidden) return deaf();
    listen();
    look();
  });
  addEventListener("beforeunload", function () { left = Date.now(); });
  addEventListener("pagehide", deaf);
  addEventListener("pageshow", listen);
  listen();
})();
