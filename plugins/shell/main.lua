return {classify=function() return {state="x"} end}
