#!/usr/bin/env node
// A list in Ink: arrows move, Enter picks.
import React, { useReducer, useRef } from "react";
import { Box, Text, render, useApp, useInput } from "ink";

const fruits = ["Apple", "Pear", "Plum"];
const h = React.createElement;
let picked;

function Picker() {
  // A ref, since Ink gives keys to the handler of the last render until React has run the effects of
  // this one: Enter right after an arrow would pick what was drawn before.
  const at = useRef(0);
  const [, redraw] = useReducer((n) => n + 1, 0);
  const { exit } = useApp();
  useInput((input, key) => {
    if (key.upArrow) at.current = Math.max(0, at.current - 1);
    if (key.downArrow) at.current = Math.min(fruits.length - 1, at.current + 1);
    if (key.return) {
      picked = fruits[at.current];
      exit();
    }
    redraw();
  });
  return h(
    Box,
    { borderStyle: "round", borderColor: "green", flexDirection: "column", width: 20 },
    fruits.map((fruit, i) =>
      h(Text, { key: fruit, inverse: i === at.current }, `${i === at.current ? "❯" : " "} ${fruit}`),
    ),
  );
}

await render(h(Picker)).waitUntilExit();
console.log(`picked ${picked}`);
