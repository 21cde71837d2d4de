package shared

const noFollow = 0
