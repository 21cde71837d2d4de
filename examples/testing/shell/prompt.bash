# A prompt: the folder, the branch of a git repository, and the exit code of what failed.
prompt() {
  local code=$? branch
  branch=$(git symbolic-ref --short HEAD 2>/dev/null)
  PS1='\[\e[34m\]\W\[\e[0m\]'
  if [ -n "$branch" ]; then PS1+=" \[\e[32m\]($branch)\[\e[0m\]"; fi
  if [ $code -ne 0 ]; then PS1+=" \[\e[31m\]$code\[\e[0m\]"; fi
  PS1+=' \$ '
}
PROMPT_COMMAND=prompt
