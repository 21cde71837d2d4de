import ptywright
with ptywright.spawn("sh", env={"PS1": "$ "}) as s:
    s.expect(regex=r"\$$")                           # a state: the prompt is there
    s.send("echo $((6*7))\n")
    s.wait(regex=r"(?m)^42$")                        # an event: only what came after the send
    try: s.wait(text="never-there", timeout=0.3)     # seconds
    except ptywright.TimeoutError as e: print(e)     # the evidence, as the command line prints it
