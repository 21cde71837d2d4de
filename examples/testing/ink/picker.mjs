#!/usr/bin/env node
// A list in Ink: arrows move, Enter picks.
import React, { useState } from "react";
import { Box, Text, render, useApp, useInput } from "ink";

const fruits = ["Apple", "Pear", "Plum"];
const h = React.createElement;
let picked;

function Picker() {
  const [at, move] = useState(0);
  const { exit } = useApp();
  useInput((input, key) => {
    if (key.upArrow) move(Math.max(0, at - 1));
    if (key.downArrow) move(Math.min(fruits.length - 1, at + 1));
    if (key.return) {
      picked = fruits[at];
      exit();
    }
  });
  return h(
    Box,
    { borderStyle: "round", borderColor: "green", flexDirection: "column", width: 20 },
    fruits.map((fruit, i) =>
      h(Text, { key: fruit, inverse: i === at }, `${i === at ? "❯" : " "} ${fruit}`),
    ),
  );
}

await render(h(Picker)).waitUntilExit();
console.log(`picked ${picked}`);
