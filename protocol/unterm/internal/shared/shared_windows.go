package shared

const noFollow, noBlock = 0, 0
